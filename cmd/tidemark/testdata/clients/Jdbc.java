import java.sql.*; import java.util.*; import java.math.*;
// Metadata, values, batches, cursors, savepoints, updatable results, timeouts and COPY of the JDBC driver; prints what PostgreSQL has it print.
public class Jdbc {
  static void show(String what, ResultSet r) throws SQLException { ResultSetMetaData m=r.getMetaData(); List<String> rows=new ArrayList<>(); while(r.next()){ StringBuilder b=new StringBuilder(); for(int i=1;i<=m.getColumnCount();i++) b.append(m.getColumnName(i)+"="+r.getString(i)+"; "); rows.add(b.toString()); } System.out.println(what+" "+rows.size()); for(String s:rows) System.out.println("  "+s); }
  interface Q { ResultSet run() throws SQLException; }
  static void t(String what, Q q) { try { show(what,q.run()); } catch(SQLException e){ System.out.println(what+" ERR "+e.getSQLState()+" "+e.getMessage()); } }
  public static void main(String[] a) throws Exception {
    try (Connection c=DriverManager.getConnection(a[0], "tidemark", "")) {
      DatabaseMetaData d=c.getMetaData();
      System.out.println(d.getDatabaseProductName()+" "+d.getDatabaseMajorVersion());
      t("tables", ()->d.getTables(null,"public","%",new String[]{"TABLE","VIEW","MATERIALIZED VIEW"}));
      t("columns", ()->d.getColumns(null,"public","t","%"));
      t("pk", ()->d.getPrimaryKeys(null,"public","t"));
      t("pk2", ()->d.getPrimaryKeys(null,"app","two"));
      try (ResultSet r=d.getIndexInfo(null,"app","two",false,false)) { while (r.next()) System.out.println(r.getString("INDEX_NAME")+" "+r.getBoolean("NON_UNIQUE")+" "+r.getString("COLUMN_NAME")+" "+r.getInt("ORDINAL_POSITION")); }
      t("tabletypes", ()->d.getTableTypes());
      t("imported", ()->d.getImportedKeys(null,"public","t"));
      t("exported", ()->d.getExportedKeys(null,"public","t"));
      t("procedures", ()->d.getProcedures(null,"pg_catalog","zzz"));
      t("best", ()->d.getBestRowIdentifier(null,"public","t",1,true));
      t("version cols", ()->d.getVersionColumns(null,"public","t"));
      try { ResultSet r=d.getTypeInfo(); int n=0; while(r.next()) n++; System.out.println("typeinfo "+(n>20)); } catch(SQLException e){ System.out.println("typeinfo ERR "+e.getMessage()); }
      try (Statement s=c.createStatement()) { s.execute("CREATE TABLE jd (id int primary key, n numeric(10,2), t text, b boolean, d date, ts timestamp, tz timestamptz, by bytea, a int[], u uuid, j jsonb)"); }
      try (PreparedStatement p=c.prepareStatement("INSERT INTO jd (id,n,t,b,d,ts,tz,by,a,u,j) VALUES (?,?,?,?,?,?,?,?,?,?,?::jsonb)")) {
        for (int i=0;i<12;i++) { p.setInt(1,i); p.setBigDecimal(2,new BigDecimal("1.50")); p.setString(3,"é"+i); p.setBoolean(4,i%2==0); p.setDate(5,java.sql.Date.valueOf("2024-02-29")); p.setTimestamp(6,Timestamp.valueOf("2024-01-02 03:04:05.678")); p.setObject(7,java.time.OffsetDateTime.parse("2024-01-02T03:04:05Z")); p.setBytes(8,new byte[]{1,2}); p.setArray(9,c.createArrayOf("int4",new Integer[]{1,null,3})); p.setObject(10,UUID.fromString("12345678-1234-5678-1234-567812345678")); p.setString(11,"{\"a\":1}"); p.addBatch(); }
        System.out.println(Arrays.toString(p.executeBatch()));
      }
      try (PreparedStatement p=c.prepareStatement("SELECT * FROM jd WHERE id = ?")) { for (int i=0;i<8;i++) { p.setInt(1,i); ResultSet r=p.executeQuery(); r.next(); if(i==7) System.out.println(r.getInt(1)+" "+r.getBigDecimal(2)+" "+r.getString(3)+" "+r.getBoolean(4)+" "+r.getDate(5)+" "+r.getTimestamp(6)+" "+r.getObject(7,java.time.OffsetDateTime.class)+" "+Arrays.toString(r.getBytes(8))+" "+Arrays.toString((Object[])r.getArray(9).getArray())+" "+r.getObject(10)+" "+r.getString(11)); } ResultSetMetaData m=p.getMetaData(); System.out.println(m.getColumnTypeName(2)+m.getPrecision(2)+m.getScale(2)+m.isNullable(1)+m.getTableName(1)+m.isAutoIncrement(1)); ParameterMetaData pm=p.getParameterMetaData(); System.out.println(pm.getParameterTypeName(1)); }
      c.setAutoCommit(false);
      try (PreparedStatement p=c.prepareStatement("SELECT id FROM jd ORDER BY id")) { p.setFetchSize(5); ResultSet r=p.executeQuery(); int s=0; while(r.next()) s+=r.getInt(1); System.out.println("cursor "+s); }
      Savepoint sp=c.setSavepoint(); try (Statement s=c.createStatement()) { s.execute("SELECT 1/0"); } catch(SQLException e) { System.out.println(e.getSQLState()); c.rollback(sp); }
      try (Statement s=c.createStatement(); ResultSet r=s.executeQuery("SELECT 1")) { r.next(); System.out.println(r.getInt(1)); }
      c.commit(); c.setAutoCommit(true);
      try (PreparedStatement p=c.prepareStatement("INSERT INTO jd (id) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) { p.setInt(1,77); p.executeUpdate(); t("generated", ()->p.getGeneratedKeys()); }
      try (Statement s=c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE,ResultSet.CONCUR_UPDATABLE); ResultSet r=s.executeQuery("SELECT id, t FROM jd WHERE id = 3")) { r.next(); r.updateString(2,"upd"); r.updateRow(); } catch(SQLException e) { System.out.println("updatable ERR "+e.getMessage()); }
      t("upd", ()->c.createStatement().executeQuery("SELECT t FROM jd WHERE id = 3"));
      try (Statement s=c.createStatement()) { s.setQueryTimeout(1); s.executeQuery("SELECT count(*) FROM generate_series(1,100000) a, generate_series(1,100000) b"); } catch(SQLException e) { System.out.println(e.getSQLState()+" "+e.getMessage()); }
      org.postgresql.copy.CopyManager cm=c.unwrap(org.postgresql.PGConnection.class).getCopyAPI();
      System.out.println(cm.copyIn("COPY jd (id, t) FROM STDIN", new java.io.StringReader("500\tx\n501\ty\n")));
      java.io.StringWriter w=new java.io.StringWriter(); cm.copyOut("COPY (SELECT id, t FROM jd WHERE id >= 500 ORDER BY id) TO STDOUT", w); System.out.print(w);
      c.setReadOnly(true); System.out.println(c.isReadOnly()+" "+c.getTransactionIsolation()+" "+c.getSchema()+" "+c.isValid(2)); c.setReadOnly(false);
      c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ); System.out.println(c.getTransactionIsolation());
      try (Statement s=c.createStatement()) { s.execute("DROP TABLE jd"); }
    }
  }
}
