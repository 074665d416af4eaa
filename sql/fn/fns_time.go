package fn

// timeFuncs are the functions on dates, times, intervals and windows.
const timeFuncs = `
now() timestamptz stable
transaction_timestamp() timestamptz stable
statement_timestamp() timestamptz stable
clock_timestamp() timestamptz volatile
date_trunc(text,timestamptz) timestamptz stable
date_trunc(text,interval) interval
date_trunc(text,timestamptz,text) timestamptz stable
date_trunc(text,timestamp) timestamp
date_part(text,timestamptz) float8 stable
date_part(text,interval) float8
date_part(text,date) float8
date_part(text,time) float8
date_part(text,timestamp) float8
extract(text,date) numeric
extract(text,time) numeric
extract(text,timestamp) numeric
extract(text,timestamptz) numeric stable
extract(text,interval) numeric
age(timestamptz,timestamptz) interval
age(timestamptz) interval stable
age(timestamp,timestamp) interval
age(timestamp) interval stable
make_date(int4,int4,int4) date
make_time(int4,int4,float8) time
make_timestamp(int4,int4,int4,int4,int4,float8) timestamp
make_timestamptz(int4,int4,int4,int4,int4,float8) timestamptz stable
make_timestamptz(int4,int4,int4,int4,int4,float8,text) timestamptz stable
make_interval(int4,int4,int4,int4,int4,int4,float8) interval
to_timestamp(float8) timestamptz
to_timestamp(text,text) timestamptz stable
to_date(text,text) date stable
timezone(interval,timestamptz) timestamp
timezone(text,timestamptz) timestamp
timezone(text,timestamp) timestamptz
timezone(interval,timestamp) timestamptz
isfinite(date) bool
isfinite(timestamptz) bool
isfinite(interval) bool
isfinite(timestamp) bool
justify_days(interval) interval
justify_hours(interval) interval
justify_interval(interval) interval
overlaps(timestamptz,timestamptz,timestamptz,timestamptz) bool null
overlaps(timestamptz,interval,timestamptz,interval) bool stable null
overlaps(timestamptz,timestamptz,timestamptz,interval) bool stable null
overlaps(timestamptz,interval,timestamptz,timestamptz) bool stable null
overlaps(time,time,time,time) bool null
overlaps(time,interval,time,interval) bool null
overlaps(time,time,time,interval) bool null
overlaps(time,interval,time,time) bool null
overlaps(timestamp,timestamp,timestamp,timestamp) bool null
overlaps(timestamp,interval,timestamp,interval) bool null
overlaps(timestamp,timestamp,timestamp,interval) bool null
overlaps(timestamp,interval,timestamp,timestamp) bool null
make_interval() interval
make_interval(int4) interval
make_interval(int4,int4) interval
make_interval(int4,int4,int4) interval
make_interval(int4,int4,int4,int4) interval
make_interval(int4,int4,int4,int4,int4) interval
make_interval(int4,int4,int4,int4,int4,int4) interval
date_bin(interval,timestamp,timestamp) timestamp
date_bin(interval,timestamptz,timestamptz) timestamptz
date(timestamp) date
date(timestamptz) date stable
window_start|window_end(window_timestamp) timestamp
window_start|window_end(window_timestamptz) timestamptz
window_start|window_end(window_date) date
window_time(window_timestamp) timestamp
window_time(window_timestamptz) timestamptz
window_time(window_date) timestamp
session_of(timestamp,timestamp) window_timestamp
session_of(timestamptz,timestamptz) window_timestamptz
`
