package fn

// textFuncs are the functions on strings and bytes.
const textFuncs = `
length(text) int4
length(bpchar) int4
length(bytea) int4
length(bytea,name) int4 stable
char_length(bpchar) int4
char_length(text) int4
octet_length(bytea) int4
octet_length(text) int4
octet_length(bpchar) int4
bit_length(bytea) int4
bit_length(text) int4
lower(text) text
upper(text) text
initcap(text) text
substr(text,int4,int4) text
substr(text,int4) text
substr(bytea,int4,int4) bytea
substr(bytea,int4) bytea
left(text,int4) text
right(text,int4) text
ltrim(text,text) text
ltrim(text) text
ltrim(bytea,bytea) bytea
rtrim(text,text) text
rtrim(text) text
rtrim(bytea,bytea) bytea
lpad(text,int4,text) text
lpad(text,int4) text
rpad(text,int4,text) text
rpad(text,int4) text
replace(text,text,text) text
translate(text,text,text) text
strpos(text,text) int4
position(text,text) int4
position(bytea,bytea) int4
split_part(text,text,int4) text
repeat(text,int4) text
reverse(text) text
concat(any) text variadic stable null
concat_ws(text,any) text variadic stable null
format(text,any) text variadic stable null
format(text) text stable null
ascii(text) int4
chr(int4) text
unistr(text) text
md5(text) text
md5(bytea) text
sha224(bytea) bytea
sha256(bytea) bytea
sha384(bytea) bytea
sha512(bytea) bytea
encode(bytea,text) text
decode(text,text) bytea
convert_from(bytea,name) text stable
convert_to(text,name) bytea stable
quote_ident(text) text
quote_literal(text) text
quote_literal(anyelement) text stable
quote_nullable(text) text null
quote_nullable(anyelement) text stable null
overlay(bytea,bytea,int4,int4) bytea
overlay(bytea,bytea,int4) bytea
overlay(text,text,int4,int4) text
overlay(text,text,int4) text
to_number(text,text) numeric stable
to_char(interval,text) text stable
to_char(timestamptz,text) text stable
to_char(numeric,text) text stable
to_char(int4,text) text stable
to_char(int8,text) text stable
to_char(float4,text) text stable
to_char(float8,text) text stable
to_char(timestamp,text) text stable
like_escape(text,text) text
like_escape(bytea,bytea) bytea
similar_to_escape(text,text) text
similar_to_escape(text) text
get_byte(bytea,int4) int4
set_byte(bytea,int4,int4) bytea
string_to_array(text,text,text) text[] null
string_to_array(text,text) text[] null
substring(text,int4,int4) text
substring(text,int4) text
substring(bytea,int4,int4) bytea
substring(bytea,int4) bytea
character_length(text) int4
btrim(text) text
btrim(text,text) text
btrim(bytea,bytea) bytea
starts_with(text,text) bool
`
