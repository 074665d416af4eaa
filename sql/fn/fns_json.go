package fn

// jsonFuncs are the functions on json and jsonb.
const jsonFuncs = `
array_to_json(anyarray) json stable
array_to_json(anyarray,bool) json stable
json_array_elements(json) json set
json_array_elements_text(json) text set
json_array_length(json) int4
json_build_array(any) json variadic stable null
json_build_array() json stable null
json_build_object(any) json variadic stable null
json_build_object() json stable null
json_each(json) record set cols=key:text,value:json
json_each_text(json) record set cols=key:text,value:text
json_object(text[]) json
json_object(text[],text[]) json
json_object_keys(json) text set
json_strip_nulls(json) json
json_typeof(json) text
jsonb_array_elements(jsonb) jsonb set
jsonb_array_elements_text(jsonb) text set
jsonb_array_length(jsonb) int4
jsonb_build_array(any) jsonb variadic stable null
jsonb_build_array() jsonb stable null
jsonb_build_object(any) jsonb variadic stable null
jsonb_build_object() jsonb stable null
jsonb_each(jsonb) record set cols=key:text,value:jsonb
jsonb_each_text(jsonb) record set cols=key:text,value:text
jsonb_insert(jsonb,text[],jsonb,bool) jsonb
jsonb_insert(jsonb,text[],jsonb) jsonb
jsonb_object(text[]) jsonb
jsonb_object(text[],text[]) jsonb
jsonb_object_keys(jsonb) text set
jsonb_pretty(jsonb) text
jsonb_set(jsonb,text[],jsonb,bool) jsonb
jsonb_set(jsonb,text[],jsonb) jsonb
jsonb_strip_nulls(jsonb) jsonb
jsonb_typeof(jsonb) text
row_to_json(record) json stable
row_to_json(record,bool) json stable
to_json(anyelement) json stable
to_jsonb(anyelement) jsonb stable
json_extract_path(json,text) json variadic
json_extract_path_text(json,text) text variadic
jsonb_extract_path(jsonb,text) jsonb variadic
jsonb_extract_path_text(jsonb,text) text variadic
`
