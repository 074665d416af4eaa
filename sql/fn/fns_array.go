package fn

// arrayFuncs are the functions on arrays and the series.
const arrayFuncs = `
array_length(anyarray,int4) int4
array_upper(anyarray,int4) int4
array_lower(anyarray,int4) int4
array_ndims(anyarray) int4
array_dims(anyarray) text
cardinality(anyarray) int4
array_position(anycompatiblearray,anycompatible) int4 null
array_position(anycompatiblearray,anycompatible,int4) int4 null
array_positions(anycompatiblearray,anycompatible) int4[] null
array_remove(anycompatiblearray,anycompatible) anycompatiblearray null
array_replace(anycompatiblearray,anycompatible,anycompatible) anycompatiblearray null
array_fill(anyelement,int4[]) anyarray null
array_fill(anyelement,int4[],int4[]) anyarray null
array_to_string(anyarray,text,text) text stable null
array_to_string(anyarray,text) text stable
trim_array(anyarray,int4) anyarray
unnest(anyarray) anyelement set
generate_series(timestamp,timestamp,interval) timestamp set
generate_series(timestamptz,timestamptz,interval) timestamptz set stable
generate_series(int4,int4,int4) int4 set
generate_series(int4,int4) int4 set
generate_series(int8,int8,int8) int8 set
generate_series(int8,int8) int8 set
generate_series(numeric,numeric,numeric) numeric set
generate_series(numeric,numeric) numeric set
generate_subscripts(anyarray,int4,bool) int4 set
generate_subscripts(anyarray,int4) int4 set
array_append(anycompatiblearray,anycompatible) anycompatiblearray null
array_prepend(anycompatible,anycompatiblearray) anycompatiblearray null
array_cat(anycompatiblearray,anycompatiblearray) anycompatiblearray null
array_slice(anyarray,int4,int4) anyarray null
array_slice(anyarray,int4,int4,int4,int4) anyarray null
`
