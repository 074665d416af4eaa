package fn

// timeOps are the operators on dates, times and intervals.
const timeOps = `
interval * float8 interval
float8 * interval interval
date + interval timestamp
date + int4 date
timestamptz + interval timestamptz stable
interval + interval interval
date + time timestamp
time + date timestamp
time + interval time
interval + time time
timestamp + interval timestamp
interval + date timestamp
interval + timestamp timestamp
interval + timestamptz timestamptz stable
int4 + date date
date - interval timestamp
date - date int4
date - int4 date
timestamptz - timestamptz interval
timestamptz - interval timestamptz stable
- interval interval
interval - interval interval
time - time interval
time - interval time
timestamp - timestamp interval
timestamp - interval timestamp
interval / float8 interval
`
