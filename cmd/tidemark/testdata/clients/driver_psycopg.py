import sys, datetime, decimal, uuid
import psycopg
import psycopg.types.json

# Values, COPY, server cursors, savepoints, pipelines, notices and types of psycopg; prints what PostgreSQL has it print.
dsn=sys.argv[1]
c=psycopg.connect(dsn)
print(c.info.server_version // 10000, c.info.encoding)
cur=c.cursor()
cur.execute("CREATE TABLE py (id int PRIMARY KEY, b bool, i8 bigint, f8 float8, f4 real, n numeric(12,3), t text, v varchar(10), by bytea, d date, tm time, ts timestamp, tz timestamptz, iv interval, u uuid, j jsonb, ia int[], ta text[])")
c.commit()
vals=(1, True, 2**40, 1.5, 0.25, decimal.Decimal('12.345'), 'é"\\', 'abc', b'\x00\xff', datetime.date(2024,2,29), datetime.time(1,2,3,4), datetime.datetime(2024,1,2,3,4,5,6), datetime.datetime(2024,1,2,3,4,5,6,tzinfo=datetime.timezone.utc), datetime.timedelta(days=3,seconds=5), uuid.UUID('12345678-1234-5678-1234-567812345678'), psycopg.types.json.Jsonb({'a':[1,None]}), [1,None,3], ['a','b,"c'])
cur.execute("INSERT INTO py VALUES ("+",".join(["%s"]*len(vals))+")", vals)
c.commit()
for binary in (False, True):
    cc=c.cursor(binary=binary)
    cc.execute("SELECT * FROM py WHERE id = %s", (1,))
    r=cc.fetchone()
    for a,b,d in zip(vals,r,cc.description):
        if isinstance(a, psycopg.types.json.Jsonb): a=a.obj
        if a!=b: print("DIFF",d.name,a,b)
    print([d.type_code for d in cc.description])
cur.executemany("INSERT INTO py (id, t) VALUES (%s, %s)", [(i, 'x%d'%i) for i in range(2, 50)])
print(cur.rowcount)
c.commit()
with cur.copy("COPY py (id, t) FROM STDIN") as cp:
    for i in range(100, 200): cp.write_row((i, 'c'))
c.commit()
with cur.copy("COPY (SELECT id, t FROM py WHERE id >= 198 ORDER BY id) TO STDOUT") as cp:
    print(list(cp.rows()))
with cur.copy("COPY (SELECT id, t FROM py WHERE id >= 198 ORDER BY id) TO STDOUT (FORMAT binary)") as cp:
    cp.set_types(['int4','text']); print(list(cp.rows()))
with c.cursor(name='srv') as s:
    s.itersize=10
    s.execute("SELECT id FROM py ORDER BY id")
    print(sum(r[0] for r in s))
c.commit()
try:
    cur.execute("INSERT INTO py (id) VALUES (1)")
except psycopg.errors.UniqueViolation as e: print(e.diag.constraint_name, e.diag.table_name, e.sqlstate)
c.rollback()
try:
    with c.transaction():
        cur.execute("INSERT INTO py (id) VALUES (1000)")
        try:
            with c.transaction():
                cur.execute("SELECT 1/0")
        except psycopg.errors.DivisionByZero: print("div")
        cur.execute("INSERT INTO py (id) VALUES (1001)")
except Exception as e: print("ERR", e)
cur.execute("SELECT count(*) FROM py WHERE id >= 1000"); print(cur.fetchone())
c.commit()
c.autocommit=True
with c.pipeline():
    a=c.execute("SELECT 1"); b=c.execute("SELECT 2")
    print(a.fetchone(), b.fetchone())
from psycopg.types import TypeInfo
print(TypeInfo.fetch(c,'int4'), TypeInfo.fetch(c,'jsonb').array_oid)
c.add_notice_handler(lambda d: print("notice", d.severity, d.message_primary))
c.execute("CREATE TABLE IF NOT EXISTS py (a int)")
print(c.execute("SELECT %s::int + %s", (1,2)).fetchone(), c.execute("SELECT * FROM py WHERE id = ANY(%s) ORDER BY id", ([1,2],)).rowcount)
c.execute("DROP TABLE py")
