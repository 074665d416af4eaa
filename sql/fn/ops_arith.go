package fn

// arithmeticOps are the operators on numbers.
const arithmeticOps = `
int2 # int2 int2
int4 # int4 int4
int8 # int8 int8
int8 % int8 int8
int2 % int2 int2
int4 % int4 int4
numeric % numeric numeric
int2 & int2 int2
int4 & int4 int4
int8 & int8 int8
int4 * int4 int4
int2 * int2 int2
int2 * int4 int4
int4 * int2 int4
float4 * float4 float4
float8 * float8 float8
int8 * int8 int8
int8 * int4 int8
int4 * int8 int8
int8 * int2 int8
int2 * int8 int8
float4 * float8 float8
float8 * float4 float8
numeric * numeric numeric
int2 + int2 int2
int4 + int4 int4
int2 + int4 int4
int4 + int2 int4
float4 + float4 float4
float8 + float8 float8
int8 + int8 int8
int8 + int4 int8
int4 + int8 int8
int8 + int2 int8
int2 + int8 int8
float4 + float8 float8
float8 + float4 float8
numeric + numeric numeric
+ int8 int8
+ int2 int2
+ int4 int4
+ float4 float4
+ float8 float8
+ numeric numeric
- int8 int8
int2 - int2 int2
int4 - int4 int4
int2 - int4 int4
int4 - int2 int4
- int4 int4
- int2 int2
- float4 float4
- float8 float8
float4 - float4 float4
float8 - float8 float8
int8 - int8 int8
int8 - int4 int8
int4 - int8 int8
int8 - int2 int8
int2 - int8 int8
float4 - float8 float8
float8 - float4 float8
- numeric numeric
numeric - numeric numeric
int2 / int2 int2
int4 / int4 int4
int2 / int4 int4
int4 / int2 int4
float4 / float4 float4
float8 / float8 float8
int8 / int8 int8
int8 / int4 int8
int4 / int8 int8
int8 / int2 int8
int2 / int8 int8
float4 / float8 float8
float8 / float4 float8
numeric / numeric numeric
int2 << int4 int2
int4 << int4 int4
int8 << int4 int8
int2 >> int4 int2
int4 >> int4 int4
int8 >> int4 int8
@ int8 int8
@ float4 float4
@ float8 float8
@ int2 int2
@ int4 int4
@ numeric numeric
float8 ^ float8 float8
numeric ^ numeric numeric
int2 | int2 int2
int4 | int4 int4
int8 | int8 int8
|/ float8 float8
||/ float8 float8
~ int2 int2
~ int4 int4
~ int8 int8
`
