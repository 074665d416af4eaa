SELECT 1 AS x, 'a'::text AS y \gdesc
SELECT id, name, qty, ts, tags FROM t \gdesc
SELECT 1 +
  foo;
SELECT * FROM nosuch;
SELECT 1 FROM t WHERE name = 1;
SELEC 1;
SELECT 'é', nosuch FROM t;
INSERT INTO t (id, name) VALUES (1, 'dup');
SELECT 1/0;
SELECT 'abc'::int;
SELECT 1; SELECT 2; SELECT nosuch; SELECT 3;
\set AUTOCOMMIT off
INSERT INTO nokey VALUES (1, 'ac');
ROLLBACK;
SELECT count(*) FROM nokey;
ROLLBACK;
\set AUTOCOMMIT on
\x on
SELECT id, name FROM t ORDER BY id;
\x off
\pset null '<null>'
SELECT NULL AS a, true AS b, 1.50 AS c, now() IS NOT NULL AS d;
\copy nokey FROM PROGRAM 'printf "1\tone\n2\t\\N\n"'
\copy nokey TO STDOUT
\copy (SELECT * FROM nokey ORDER BY a) TO STDOUT WITH (FORMAT csv, HEADER)
\copy nokey FROM PROGRAM 'printf "x\tone\n"'
COPY nokey FROM STDIN;
5	five
\.
SELECT * FROM nokey ORDER BY a;
BEGIN;
SELECT 1/0;
SELECT 1;
COMMIT;
\set ON_ERROR_ROLLBACK on
BEGIN;
INSERT INTO nokey VALUES (7, 'seven');
SELECT 1/0;
INSERT INTO nokey VALUES (8, 'eight');
COMMIT;
SELECT * FROM nokey WHERE a > 6 ORDER BY a;
SELECT 1 AS one \gset
\echo :one
SELECT format('SELECT %s', g) FROM generate_series(1, 3) g \gexec
SELECT a % 2 AS r, b AS c, count(*)::text AS n FROM nokey GROUP BY 1, 2 ORDER BY 1, 2 \crosstabview
SELECT foo;
VALUES (1, 'a'), (2, 'b');
TABLE nokey;
SHOW search_path;
SET statement_timeout = 5000; SHOW statement_timeout;
SET statement_timeout = '2min'; SHOW statement_timeout; RESET statement_timeout;
SELECT 65::"char", 'A'::"char"::int, 'abc'::name, 5::oid, '1 2 3'::int2vector, ARRAY['a','b"c',NULL], ARRAY[[1,2],[3,4]], '{}'::int[];
SELECT 'nosuch'::regclass;
SELECT to_regclass('nosuch'), to_regclass('t'), to_regtype('int4');
SELECT oid::regclass, relkind, relnamespace::regnamespace FROM pg_class WHERE relname IN ('t', 't_pkey') ORDER BY relname;
SELECT conname, contype, conkey, pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conrelid = 't'::regclass ORDER BY 1;
SELECT indexrelid::regclass, indkey, indisunique, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid IN ('t'::regclass, 'app.two'::regclass) ORDER BY indexrelid::regclass::text;
SELECT attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid) FROM pg_attribute a LEFT JOIN pg_attrdef d ON adrelid = attrelid AND adnum = attnum WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum;
SELECT typname, typinput, typoutput, typelem::regtype, typarray::regtype FROM pg_type WHERE typname IN ('int4', '_int4', 'varchar', 'window_x') ORDER BY 1;
SELECT 'unterminated;
';
SELECT "no";
DISCARD ALL;
SELECT current_user, session_user, current_schema, current_schemas(false), current_database();
SELECT column_name, data_type, is_nullable, column_default, character_maximum_length, numeric_precision, numeric_scale, udt_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position;
SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_name = 'two' AND constraint_name !~ 'not_null' ORDER BY 1;
SELECT pg_typeof(1), pg_typeof('a'::text), pg_typeof(now()), pg_typeof(ARRAY[1]), 't'::regclass, 'now'::regproc, 16::regtype, 'int4'::regtype, 'public'::regnamespace, 'pg_class'::regclass::oid, 'array_in'::regproc, 'lower(text)'::regprocedure;
SELECT 'abc'::char, 'abc'::"char", pg_typeof('abc'::char), pg_typeof('abc'::"char");
SELECT 'nosuch'::regproc;
SELECT 'nosuch'::regtype;
SELECT 'nosuch'::regnamespace;
SELECT 'nosuch(int)'::regprocedure;
SELECT (x.r).value FROM (SELECT json_each('{"a":1,"b":2}'::json) AS r) x;
SELECT i.relname, (information_schema._pg_expandarray(x.indkey)).n, information_schema._pg_expandarray(x.indkey) FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = 'app.two'::regclass ORDER BY 1, 2;
SELECT oidvectortypes(proargtypes), proargtypes FROM pg_proc WHERE proname = 'lpad' ORDER BY 1;
SELECT obj_description('t'::regclass), obj_description('t'::regclass, 'pg_class'), obj_description('t'::regclass, 'pg_type'), obj_description(23, 'pg_type');
SELECT c.tableoid::regclass, c.relname FROM pg_class c WHERE c.relname = 't';
SELECT table_name, constraint_name, column_name, ordinal_position FROM information_schema.key_column_usage WHERE table_schema = 'app' ORDER BY 2, 4;
SELECT check_clause FROM information_schema.check_constraints WHERE constraint_name IN ('pos', 't_qty_check') ORDER BY 1;
CREATE TABLE d (a int DEFAULT -1, b int DEFAULT 1 + 1, c bool DEFAULT true, d date DEFAULT '2024-01-01', e text, f timestamptz DEFAULT CURRENT_TIMESTAMP, g int[] DEFAULT '{}', h float8 DEFAULT 1.5, i bigint DEFAULT 5, j text DEFAULT NULL,
  CHECK (a > b OR a IS NULL), CHECK (e IN ('x', 'y')), CHECK (a BETWEEN 1 AND 10 AND NOT c), CHECK (length(e) > 3), CHECK (e LIKE 'a%'), CONSTRAINT twice CHECK (a + b * 2 > 3));
SELECT a.attname, pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE attrelid = 'd'::regclass AND attname <> 'b' ORDER BY attnum;
SELECT conname, pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conrelid = 'd'::regclass ORDER BY 1;
