package fn

// jsonOps are the operators on json and jsonb, without comparisons.
const jsonOps = `
jsonb #- text[] jsonb
jsonb #> text[] jsonb
json #> text[] json
jsonb #>> text[] text
json #>> text[] text
jsonb - text jsonb
jsonb - int4 jsonb
jsonb - text[] jsonb
jsonb -> text jsonb
jsonb -> int4 jsonb
json -> text json
json -> int4 json
jsonb ->> text text
jsonb ->> int4 text
json ->> text text
json ->> int4 text
jsonb <@ jsonb bool
jsonb ? text bool
jsonb ?& text[] bool
jsonb ?| text[] bool
jsonb @> jsonb bool
jsonb || jsonb jsonb
`
