package fn

// windowFuncs are the functions that need OVER.
const windowFuncs = `
row_number() int8 window
rank() int8 window
dense_rank() int8 window
percent_rank() float8 window
cume_dist() float8 window
ntile(int4) int4 window
lag|lead(anyelement) anyelement window
lag|lead(anyelement,int4) anyelement window
lag|lead(anycompatible,int4,anycompatible) anycompatible window
first_value|last_value(anyelement) anyelement window
nth_value(anyelement,int4) anyelement window
`
