-- Answers of PostgreSQL 15 for postgres_test.go: psql -XAtqf postgres.sql > postgres.txt
-- A line is: type, aggregate, values as an array, result or error.
SET extra_float_digits = 1;
CREATE TEMP TABLE sets (typ text, vals text[]);
INSERT INTO sets VALUES
 ('int8', '{}'), ('int8', '{NULL}'), ('int8', '{5}'), ('int8', '{1,2,2,NULL,7}'), ('int8', '{-3,-9,12,12,12}'),
 ('int8', '{9223372036854775807,9223372036854775807,-1}'), ('int8', '{-9223372036854775808,9223372036854775807,NULL}'),
 ('int4', '{}'), ('int4', '{3,4}'), ('int4', '{2147483647,2147483647,-7}'), ('int4', '{12,10,6,NULL,6}'),
 ('int2', '{1,2,4,32767}'), ('int2', '{-32768,-1}'),
 ('numeric', '{}'), ('numeric', '{NULL,NULL}'), ('numeric', '{1.10}'), ('numeric', '{1.5,2.25,-3}'), ('numeric', '{0.000,0.00}'),
 ('numeric', '{12345678901234567890123456789012345678901234567890.5,-1.25,3}'), ('numeric', '{NaN,1}'), ('numeric', '{Infinity,1.5}'),
 ('numeric', '{Infinity,-Infinity}'), ('numeric', '{-Infinity,0}'), ('numeric', '{1,2,2.0,2.00,5.5,NULL}'), ('numeric', '{1e-40,1e40}'),
 ('numeric', '{100,200,300.125}'), ('numeric', '{1,1,1}'),
 ('float8', '{}'), ('float8', '{1.5}'), ('float8', '{1.5,2.25,-3,NULL}'), ('float8', '{NaN,1}'), ('float8', '{Infinity,1}'), ('float8', '{Infinity,-Infinity}'),
 ('float8', '{1e300,1e-300,5}'), ('float8', '{3,3,3}'), ('float8', '{-0,0}'), ('float8', '{1e308,1e308}'),
 ('float4', '{1.5,2.5,-8}'), ('float4', '{}'), ('float4', '{1e38,1e38,2e38}'), ('float4', '{0.5,NULL}'),
 ('interval', '{}'), ('interval', '{1 day,2 days 03:00,NULL}'), ('interval', '{1 mon,1 day}'), ('interval', '{1 year 2 mons 3 days 04:05:06.789,-7 days,00:00:01}'), ('interval', '{30 days,1 mon}'),
 ('bool', '{}'), ('bool', '{t}'), ('bool', '{t,f,NULL}'), ('bool', '{f,f}'), ('bool', '{NULL}'),
 ('text', '{}'), ('text', '{b,a,NULL,b}'), ('text', '{"x,y","",NULL,"q\"r"}'), ('text', '{z}'),
 ('bytea', '{"\\x01","\\x00ff"}'),
 ('date', '{2024-02-29,2023-01-01,NULL}'), ('timestamp', '{"2024-02-29 10:00:00.5","1999-01-01 00:00:00"}'),
 ('uuid', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,10eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'),
 ('jsonb', '{"{\"a\": 1}","[1, 2]",NULL,"\"s\""}'),
 ('xy', '{}'), ('xy', '{1:2}'), ('xy', '{1:2,3:5,-4:0.5,2.5:7}'), ('xy', '{NULL:2,1:NULL,3:4,5:8,6:1}'), ('xy', '{1:1,2:1,3:1}'), ('xy', '{2:1,2:3,2:9}'),
 ('xy', '{1:2,NaN:3}'), ('xy', '{1:2,3:Infinity}'), ('xy', '{0.1:0.2,0.3:0.7,0.11:0.35,123456:-7}'),
 ('int4[]', '{"{1,2}","{3,4}"}'), ('int4[]', '{"{1,2}","{3}"}'), ('int4[]', '{"{1,2}",NULL}'), ('int4[]', '{}');
CREATE TEMP TABLE aggs (agg text, typs text[]);
INSERT INTO aggs VALUES
 ('corr(y, x)', '{xy}'), ('covar_pop(y, x)', '{xy}'), ('covar_samp(y, x)', '{xy}'), ('regr_count(y, x)', '{xy}'), ('regr_avgx(y, x)', '{xy}'),
 ('regr_avgy(y, x)', '{xy}'), ('regr_sxx(y, x)', '{xy}'), ('regr_syy(y, x)', '{xy}'), ('regr_sxy(y, x)', '{xy}'), ('regr_r2(y, x)', '{xy}'),
 ('regr_slope(y, x)', '{xy}'), ('regr_intercept(y, x)', '{xy}'),
 ('count(x)', '{int8,int4,int2,numeric,float8,float4,interval,bool,text,jsonb,int4[]}'),
 ('count(DISTINCT x)', '{int8,int4,int2,numeric,float8,float4,interval,bool,text,jsonb}'),
 ('sum(x)', '{int8,int4,int2,numeric,float8,float4,interval}'), ('avg(x)', '{int8,int4,int2,numeric,float8,float4,interval}'),
 ('sum(DISTINCT x)', '{int8,int4,int2,float8,float4}'), ('avg(DISTINCT x)', '{int8,int4,int2,float8,float4}'),
 ('min(x)', '{int8,int4,int2,numeric,float8,float4,interval,text,date,timestamp,int4[]}'), ('max(x)', '{int8,int4,int2,numeric,float8,float4,interval,text,date,timestamp,int4[]}'),
 ('var_pop(x)', '{int8,int4,int2,numeric,float8,float4}'), ('var_samp(x)', '{int8,int4,int2,numeric,float8,float4}'),
 ('stddev_pop(x)', '{int8,int4,int2,numeric,float8,float4}'), ('stddev(x)', '{int8,int4,int2,numeric,float8,float4}'), ('variance(DISTINCT x)', '{int8,int4,int2}'),
 ('bool_and(x)', '{bool}'), ('bool_or(x)', '{bool}'), ('every(x)', '{bool}'),
 ('bit_and(x)', '{int8,int4,int2}'), ('bit_or(x)', '{int8,int4,int2}'), ('bit_xor(x)', '{int8,int4,int2}'),
 ('string_agg(x, x)', '{text,bytea}'), ('string_agg(DISTINCT x, x)', '{text}'),
 ('array_agg(x)', '{int8,text,numeric,date,interval,int4[],bool}'), ('array_agg(DISTINCT x)', '{int8,text,bool}'),
 ('json_agg(x)', '{int8,text,numeric,bool,jsonb,timestamp,int4[],float8}'), ('jsonb_agg(DISTINCT x)', '{int8,int4,text,bool}'),
 ('jsonb_agg(x)', '{int8,text,numeric,bool,jsonb}'),
 ('json_object_agg(x, x)', '{int2,text}'), ('jsonb_object_agg(x, x)', '{int2,text}'),
 ('mode() WITHIN GROUP (ORDER BY x)', '{int8,int4,text,interval}'), ('mode() WITHIN GROUP (ORDER BY x DESC)', '{int8,text}'),
 ('percentile_cont(0.5) WITHIN GROUP (ORDER BY x)', '{float8,interval}'), ('percentile_cont(0.9) WITHIN GROUP (ORDER BY x DESC)', '{float8}'),
 ('percentile_disc(0.5) WITHIN GROUP (ORDER BY x)', '{int8,float8,interval,text,date}'), ('percentile_disc(0) WITHIN GROUP (ORDER BY x)', '{int8,text}'),
 ('percentile_cont(''{0,0.25,NULL,1}''::float8[]) WITHIN GROUP (ORDER BY x)', '{float8}'), ('percentile_disc(''{0,0.25,NULL,1}''::float8[]) WITHIN GROUP (ORDER BY x)', '{int8,text}');
CREATE FUNCTION pg_temp.answer(typ text, vals text[], agg text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r text;
BEGIN
  IF typ = 'xy' THEN
    EXECUTE format('SELECT (%s)::text FROM (SELECT nullif(split_part(v, '':'', 1), ''NULL'')::float8 AS y, nullif(split_part(v, '':'', 2), ''NULL'')::float8 AS x FROM unnest($1) u(v)) s', agg) INTO r USING vals;
    RETURN coalesce(r, 'NULL');
  END IF;
  EXECUTE format('SELECT (%s)::text FROM (SELECT v::%s AS x FROM unnest($1) WITH ORDINALITY u(v, i) ORDER BY i) s', agg, typ) INTO r USING vals;
  RETURN coalesce(replace(r, E'\n', '\n'), 'NULL');
EXCEPTION WHEN OTHERS THEN
  RETURN 'ERROR ' || SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT typ || E'\t' || agg || E'\t' || vals::text || E'\t' || pg_temp.answer(typ, vals, agg)
FROM sets JOIN aggs ON typ = ANY (typs) ORDER BY agg COLLATE "C", typ, vals::text COLLATE "C";
