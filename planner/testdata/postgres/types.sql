SELECT 1, 1.5, 3000000000, 99999999999999999999, 1e3, -5, -2147483648, -9223372036854775808
SELECT 'a', NULL, DATE '2024-01-01', TIMESTAMP '2024-01-01', TIMESTAMPTZ '2024-01-01', INTERVAL '1 day'
SELECT 1 + 1.5, 1 + 1::bigint, 1::smallint + 1, 1 / 2, 1.0 / 3, 2 ^ 3, 5 % 3, -id, f + 1, price * 2, price + qty FROM t
SELECT 1 + 'a'
SELECT 'a' + 'b'
SELECT 1 + true
SELECT name + 1 FROM t
SELECT name || 1, 'a' || 'b', 1 || 'x', tags || 'x', tags || ARRAY['y'] FROM t
SELECT ts + interval '1 day', ts - ts, d + 1, d - d, d - 1, tz - interval '1h', ts - d, d + interval '1h' FROM t
SELECT ts < tz, d = ts, ts > '2024-01-01', d = 'x' FROM t
SELECT ts > 'nonsense' FROM t
SELECT id = '5', id = 'x' FROM t
SELECT '5' = id, '7' > 3
SELECT id::text, id::bigint, name::int, price::int, '5'::int, 'x'::varchar(3), 5::bool, 'true'::bool, id::float8::numeric(5,2) FROM t
SELECT ts::int FROM t
SELECT 'x'::nosuch
SELECT 'x'::int
SELECT CAST(1 AS text), int '5', float8 '1.5'
SELECT CASE WHEN ok THEN 1 ELSE 2.5 END, CASE id WHEN 1 THEN 'a' END, CASE WHEN ok THEN NULL END FROM t
SELECT CASE WHEN ok THEN 1 ELSE 'x' END FROM t
SELECT CASE WHEN ok THEN 1 ELSE name END FROM t
SELECT CASE WHEN id THEN 1 END FROM t
SELECT COALESCE(id, 1.5), COALESCE(name, 'x'), COALESCE(NULL, NULL), NULLIF(id, 0), NULLIF(name, ''), GREATEST(id, 2, 3.5), LEAST('a', name) FROM t
SELECT COALESCE(id, name) FROM t
SELECT NULLIF(id, name) FROM t
SELECT id BETWEEN 1 AND 2, name BETWEEN 'a' AND 'b', id NOT BETWEEN SYMMETRIC 3 AND 1 FROM t
SELECT id IN (1, 2), id IN (1, NULL), id IN (1, 2.5), name IN ('a'), id IN ('1') FROM t
SELECT id IN (1, name) FROM t
SELECT id IN ('a') FROM t
SELECT name LIKE 'a%', name NOT ILIKE 'b', name LIKE 'a' ESCAPE 'x', name ~ 'a', name SIMILAR TO 'x' FROM t
SELECT id LIKE 'a' FROM t
SELECT ok IS TRUE, ok IS NOT UNKNOWN, id IS NULL, id IS NOT NULL, id IS DISTINCT FROM 5, ROW(1, 2) IS NULL FROM t
SELECT id IS TRUE FROM t
SELECT (1, 2) = (3, 4), (1, 'a') < (2, 'b'), (1, 2) = (1, 2, 3)
SELECT (id, qty) > (1, 2), ROW(id, qty) <> ROW(1, 2) FROM t
SELECT ARRAY[1, 2], ARRAY[1, 2.5], ARRAY['a'], ARRAY[[1, 2], [3, 4]], ARRAY[]::int[], ARRAY[1, NULL], '{1,2}'::int[]
SELECT ARRAY[]
SELECT ARRAY[1, 'x']
SELECT tags[1], tags[1:2], (ARRAY[1, 2])[1] FROM t
SELECT id[1] FROM t
SELECT ARRAY(SELECT id FROM t)
SELECT sum(id), sum(price), sum(f), avg(id), avg(f), min(name), max(ts), count(*), count(id), bool_and(ok), array_agg(id), array_agg(name), string_agg(name, ',') FROM t
SELECT sum(name) FROM t
SELECT stddev(id), variance(f), corr(f, f) FROM t
SELECT now(), current_date, current_timestamp, localtimestamp, current_timestamp(3), current_user, session_user, current_schema()
SELECT extract(year FROM ts), date_trunc('day', ts), date_part('hour', tz), age(ts, ts), to_char(ts, 'YYYY') FROM t
SELECT length(name), upper(name), substring(name FROM 1 FOR 2), position('a' IN name), trim(name), lpad(name, 5), replace(name, 'a', 'b'), split_part(name, ',', 1) FROM t
SELECT abs(id), abs(price), round(price, 1), round(f), floor(price), ceil(f), sqrt(2), power(2, 3), mod(5, 3), greatest(1, 2) FROM t
SELECT upper(id) FROM t
SELECT $1 + 1
SELECT $1::int, $2 || 'x'
SELECT id FROM t WHERE id = $1 AND name = $2 AND ts > $3 AND price < $4
SELECT $1
SELECT COALESCE($1, 5), CASE WHEN $2 THEN 1 END
SELECT id FROM t WHERE id IN ($1, $2)
SELECT id FROM t WHERE id = ANY($1)
SELECT $2
SELECT code, code || 'x', code::text, lower(code) FROM t
SELECT (SELECT code FROM t), (SELECT price FROM t)
SELECT code FROM t UNION SELECT 'x'
SELECT code FROM t UNION ALL SELECT code FROM t
SELECT x FROM (SELECT 'a' AS x) y
SELECT x || 'b' FROM (SELECT 'a' AS x) y
SELECT x + 1 FROM (SELECT '5' AS x) y
SELECT ts AT TIME ZONE 'UTC', tz AT TIME ZONE 'UTC' FROM t
SELECT name COLLATE "C" FROM t
SELECT id COLLATE "C" FROM t
SELECT make_interval(days => 3), make_interval(hours => 1, mins => 5)
SELECT '{"a": 1}'::jsonb -> 'a', '{"a": 1}'::jsonb ->> 'a', '{"a": 1}'::json -> 'a'
SELECT DISTINCT '{"a": 1}'::json
SELECT '{"a": 1}'::json ORDER BY 1
SELECT exp(1), ln(2.0), random() < 2, pi()
SELECT -name FROM t
SELECT NOT NULL, NOT 'true'
SELECT 1 = NULL, NULL = NULL, NULL + 1
SELECT bool 'yes', 1::text::int, '2024-01-01'::date + 1
SELECT name::varchar(2), 'abc'::char(2), 'abc'::char, 1.234::numeric(3,1)
SELECT t.id, count(u.id) FILTER (WHERE u.note IS NOT NULL) AS n FROM t LEFT JOIN u ON u.tid = t.id GROUP BY t.id HAVING count(*) > 1 ORDER BY n DESC, t.name
