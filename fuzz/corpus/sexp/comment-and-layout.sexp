; hi
((time 1)
 (op (Switch
 -1)))((op(Switch 1))(time 2)) ; bye