# Reflection, core and ORM of SQLAlchemy; prints what PostgreSQL has it print.
import sys
from sqlalchemy import create_engine, inspect, text, MetaData, Table, Column, Integer, String, select, func, Numeric, CheckConstraint, UniqueConstraint, DateTime
e=create_engine(sys.argv[1])
i=inspect(e)
print([s for s in i.get_schema_names() if s != 'tidemark'])
print(sorted(i.get_table_names())); print(sorted(i.get_view_names())); print(i.get_materialized_view_names())
for t in ('t',):
    for c in i.get_columns(t): print(c)
    print(i.get_pk_constraint(t)); print(sorted(i.get_unique_constraints(t), key=str)); print(sorted(i.get_check_constraints(t), key=str)); print(i.get_indexes(t)); print(i.get_foreign_keys(t)); print(i.get_table_comment(t))
print(i.get_columns('two', schema='app')); print(i.get_pk_constraint('two', schema='app'))
print(i.get_columns('v')); print(bool(i.get_view_definition('v')))
print(i.has_table('t'), i.has_table('zz'), i.get_sequence_names(), i.get_enums(), i.get_domains())
m=MetaData(); m.reflect(e); print(sorted(m.tables))
m2=MetaData()
u=Table('sa_u', m2, Column('id', Integer, primary_key=True, autoincrement=False), Column('name', String(30), nullable=False, server_default='x'), Column('q', Numeric(10,2)), Column('ts', DateTime(timezone=True), server_default=func.now()), CheckConstraint('q > 0', name='q_pos'), UniqueConstraint('name'))
m2.create_all(e)
with e.begin() as c:
    c.execute(u.insert(), [{'id':i,'name':'n%d'%i,'q':i+1} for i in range(5)])
with e.connect() as c:
    print(c.execute(select(u.c.id, u.c.name, u.c.q).where(u.c.id.in_([1,2])).order_by(u.c.id)).all())
    print(c.execute(select(func.count()).select_from(u)).scalar())
    print(c.get_isolation_level())
from sqlalchemy.orm import DeclarativeBase, Session, mapped_column, Mapped
class B(DeclarativeBase): pass
class O(B):
    __tablename__='sa_o'; id: Mapped[int]=mapped_column(primary_key=True, autoincrement=False); name: Mapped[str]
B.metadata.create_all(e)
with Session(e) as s:
    s.add_all([O(id=1,name='a'),O(id=2,name='b')]); s.commit()
    o=s.get(O,1); o.name='z'; s.commit(); print([x.name for x in s.query(O).order_by(O.id)])
    with s.begin_nested(): s.add(O(id=3,name='c'))
    s.commit(); s.delete(o); s.commit(); print(s.query(O).count())
B.metadata.drop_all(e); m2.drop_all(e)
