package fn

// regexpFuncs are the functions with regular expressions, and those that split strings into rows.
const regexpFuncs = `
substring(text,text) text
substring(text,text,text) text
regexp_replace(text,text,text) text
regexp_replace(text,text,text,text) text
regexp_replace(text,text,text,int4,int4,text) text
regexp_replace(text,text,text,int4,int4) text
regexp_replace(text,text,text,int4) text
regexp_match(text,text) text[]
regexp_match(text,text,text) text[]
regexp_matches(text,text) text[] set
regexp_matches(text,text,text) text[] set
regexp_split_to_array(text,text) text[]
regexp_split_to_array(text,text,text) text[]
regexp_split_to_table(text,text) text set
regexp_split_to_table(text,text,text) text set
regexp_count(text,text) int4
regexp_count(text,text,int4) int4
regexp_count(text,text,int4,text) int4
regexp_instr(text,text) int4
regexp_instr(text,text,int4) int4
regexp_instr(text,text,int4,int4) int4
regexp_instr(text,text,int4,int4,int4) int4
regexp_instr(text,text,int4,int4,int4,text) int4
regexp_instr(text,text,int4,int4,int4,text,int4) int4
regexp_like(text,text) bool
regexp_like(text,text,text) bool
regexp_substr(text,text) text
regexp_substr(text,text,int4) text
regexp_substr(text,text,int4,int4) text
regexp_substr(text,text,int4,int4,text) text
regexp_substr(text,text,int4,int4,text,int4) text
string_to_table(text,text) text set null
string_to_table(text,text,text) text set null
`
