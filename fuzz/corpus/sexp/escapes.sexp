((time 1)(op(Label 1"\n\t\\\"\065\x41\
   z\q")))