((time 1)(op(Explode 1)))
((time 2)(op(Label 1"abc)))
((time 3)(op(Switch 1))
((time 4)(op(Switch 2)))
) stray
((time 5)(op((((((((((1))))))))))))
((time -1)(op(Switch 2)))((time 6)(op(Switch -7)))