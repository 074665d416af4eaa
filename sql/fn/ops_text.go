package fn

// textOps are the operators on strings and bytes.
const textOps = `
name !~ text bool
text !~ text bool
bpchar !~ text bool
name !~* text bool
text !~* text bool
bpchar !~* text bool
name !~~ text bool
text !~~ text bool
bpchar !~~ text bool
bytea !~~ bytea bool
name !~~* text bool
text !~~* text bool
bpchar !~~* text bool
text ^@ text bool
name ~ text bool
text ~ text bool
bpchar ~ text bool
name ~* text bool
text ~* text bool
bpchar ~* text bool
text ~<=~ text bool
bpchar ~<=~ bpchar bool
text ~<~ text bool
bpchar ~<~ bpchar bool
text ~>=~ text bool
bpchar ~>=~ bpchar bool
text ~>~ text bool
bpchar ~>~ bpchar bool
name ~~ text bool
text ~~ text bool
bpchar ~~ text bool
bytea ~~ bytea bool
name ~~* text bool
text ~~* text bool
bpchar ~~* text bool
text || text text
bytea || bytea bytea
text || anynonarray text stable
anynonarray || text text stable
`
