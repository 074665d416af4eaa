package fn

// systemFuncs are the functions that psql, drivers and tools ask the catalog
// and the session with, and those that describe values.
const systemFuncs = `
version() text stable
current_database|current_catalog|current_schema() name stable session
current_schemas(bool) name[] stable session
current_user|session_user|user|current_role() name stable session
pg_typeof(any) regtype stable null
pg_backend_pid() int4 stable session
pg_is_in_recovery() bool stable
pg_encoding_to_char(int4) name stable
pg_char_to_encoding(name) int4 stable
pg_client_encoding|getdatabaseencoding() name stable
pg_postmaster_start_time|pg_conf_load_time() timestamptz stable session
pg_my_temp_schema() oid stable
pg_is_other_temp_schema(oid) bool stable
pg_column_size(any) int4 stable
pg_size_pretty(int8) text
pg_size_pretty(numeric) text
pg_size_bytes(text) int8
pg_sleep(float8) void volatile session
pg_cancel_backend(int4) bool volatile session
pg_terminate_backend(int4) bool volatile session
gen_random_uuid() uuid volatile
set_config(text,text,bool) text volatile null session
current_setting(text) text stable session
current_setting(text,bool) text stable session
pg_table_is_visible|pg_type_is_visible|pg_function_is_visible|pg_operator_is_visible|pg_opclass_is_visible|pg_opfamily_is_visible|pg_collation_is_visible|pg_conversion_is_visible|pg_statistics_obj_is_visible|pg_ts_config_is_visible|pg_ts_dict_is_visible|pg_ts_parser_is_visible|pg_ts_template_is_visible(oid) bool stable session
format_type(oid,int4) text stable null session
pg_get_userbyid(oid) name stable session
pg_get_expr(text,oid) text stable session
pg_get_expr(text,oid,bool) text stable session
pg_get_viewdef(text) text stable session
pg_get_viewdef(oid) text stable session
pg_get_viewdef(text,bool) text stable session
pg_get_viewdef(oid,bool) text stable session
pg_get_viewdef(oid,int4) text stable session
pg_get_indexdef(oid) text stable session
pg_get_indexdef(oid,int4,bool) text stable session
pg_get_constraintdef(oid) text stable session
pg_get_constraintdef(oid,bool) text stable session
pg_get_triggerdef|pg_get_ruledef(oid) text stable session
pg_get_triggerdef|pg_get_ruledef(oid,bool) text stable session
pg_get_functiondef|pg_get_function_arguments|pg_get_function_identity_arguments|pg_get_function_result|pg_get_function_sqlbody(oid) text stable session
pg_get_partkeydef|pg_get_partition_constraintdef|pg_get_statisticsobjdef|pg_get_statisticsobjdef_columns(oid) text stable session
pg_get_serial_sequence(text,text) text stable session
pg_get_replica_identity_index(regclass) regclass stable session
pg_relation_is_publishable(regclass) bool stable session
pg_relation_size|pg_table_size|pg_indexes_size|pg_total_relation_size(regclass) int8 volatile session
pg_relation_size(regclass,text) int8 volatile session
pg_database_size(name) int8 volatile session
pg_database_size(oid) int8 volatile session
pg_tablespace_location(oid) text stable session
pg_relation_filenode(regclass) oid stable session
pg_relation_is_updatable(regclass,bool) int4 stable session
pg_column_is_updatable(regclass,int2,bool) bool stable session
obj_description(oid) text stable session
obj_description(oid,name) text stable session
shobj_description(oid,name) text stable session
col_description(oid,int4) text stable session
to_regclass(text) regclass stable session
to_regtype(text) regtype stable session
to_regproc(text) regproc stable session
inet_client_addr|inet_server_addr() text stable session
inet_client_port|inet_server_port() int4 stable session
txid_current|pg_current_xact_id() int8 stable session
pg_partition_root(regclass) regclass stable session
pg_partition_ancestors(regclass) regclass stable set cols=relid:regclass
row_security_active(oid) bool stable session
row_security_active(text) bool stable session
pg_jit_available() bool volatile
oidvectortypes(oidvector) text stable session
_pg_expandarray(int2vector) record set cols=x:int2,n:int4
_pg_expandarray(oidvector) record set cols=x:oid,n:int4
`

// privilegeFuncs ask about privileges; all of them are answered by the session.
const privilegeFuncs = `
has_any_column_privilege(name,text,text) bool stable session
has_any_column_privilege(name,oid,text) bool stable session
has_any_column_privilege(oid,text,text) bool stable session
has_any_column_privilege(oid,oid,text) bool stable session
has_any_column_privilege(text,text) bool stable session
has_any_column_privilege(oid,text) bool stable session
has_column_privilege(name,text,text,text) bool stable session
has_column_privilege(name,text,int2,text) bool stable session
has_column_privilege(name,oid,text,text) bool stable session
has_column_privilege(name,oid,int2,text) bool stable session
has_column_privilege(oid,text,text,text) bool stable session
has_column_privilege(oid,text,int2,text) bool stable session
has_column_privilege(oid,oid,text,text) bool stable session
has_column_privilege(oid,oid,int2,text) bool stable session
has_column_privilege(text,text,text) bool stable session
has_column_privilege(text,int2,text) bool stable session
has_column_privilege(oid,text,text) bool stable session
has_column_privilege(oid,int2,text) bool stable session
has_database_privilege(name,text,text) bool stable session
has_database_privilege(name,oid,text) bool stable session
has_database_privilege(oid,text,text) bool stable session
has_database_privilege(oid,oid,text) bool stable session
has_database_privilege(text,text) bool stable session
has_database_privilege(oid,text) bool stable session
has_foreign_data_wrapper_privilege(name,text,text) bool stable session
has_foreign_data_wrapper_privilege(name,oid,text) bool stable session
has_foreign_data_wrapper_privilege(oid,text,text) bool stable session
has_foreign_data_wrapper_privilege(oid,oid,text) bool stable session
has_foreign_data_wrapper_privilege(text,text) bool stable session
has_foreign_data_wrapper_privilege(oid,text) bool stable session
has_function_privilege(name,text,text) bool stable session
has_function_privilege(name,oid,text) bool stable session
has_function_privilege(oid,text,text) bool stable session
has_function_privilege(oid,oid,text) bool stable session
has_function_privilege(text,text) bool stable session
has_function_privilege(oid,text) bool stable session
has_language_privilege(name,text,text) bool stable session
has_language_privilege(name,oid,text) bool stable session
has_language_privilege(oid,text,text) bool stable session
has_language_privilege(oid,oid,text) bool stable session
has_language_privilege(text,text) bool stable session
has_language_privilege(oid,text) bool stable session
has_schema_privilege(name,text,text) bool stable session
has_schema_privilege(name,oid,text) bool stable session
has_schema_privilege(oid,text,text) bool stable session
has_schema_privilege(oid,oid,text) bool stable session
has_schema_privilege(text,text) bool stable session
has_schema_privilege(oid,text) bool stable session
has_sequence_privilege(name,text,text) bool stable session
has_sequence_privilege(name,oid,text) bool stable session
has_sequence_privilege(oid,text,text) bool stable session
has_sequence_privilege(oid,oid,text) bool stable session
has_sequence_privilege(text,text) bool stable session
has_sequence_privilege(oid,text) bool stable session
has_server_privilege(name,text,text) bool stable session
has_server_privilege(name,oid,text) bool stable session
has_server_privilege(oid,text,text) bool stable session
has_server_privilege(oid,oid,text) bool stable session
has_server_privilege(text,text) bool stable session
has_server_privilege(oid,text) bool stable session
has_table_privilege(name,text,text) bool stable session
has_table_privilege(name,oid,text) bool stable session
has_table_privilege(oid,text,text) bool stable session
has_table_privilege(oid,oid,text) bool stable session
has_table_privilege(text,text) bool stable session
has_table_privilege(oid,text) bool stable session
has_tablespace_privilege(name,text,text) bool stable session
has_tablespace_privilege(name,oid,text) bool stable session
has_tablespace_privilege(oid,text,text) bool stable session
has_tablespace_privilege(oid,oid,text) bool stable session
has_tablespace_privilege(text,text) bool stable session
has_tablespace_privilege(oid,text) bool stable session
has_type_privilege(name,text,text) bool stable session
has_type_privilege(name,oid,text) bool stable session
has_type_privilege(oid,text,text) bool stable session
has_type_privilege(oid,oid,text) bool stable session
has_type_privilege(text,text) bool stable session
has_type_privilege(oid,text) bool stable session
pg_has_role(name,name,text) bool stable session
pg_has_role(name,oid,text) bool stable session
pg_has_role(oid,name,text) bool stable session
pg_has_role(oid,oid,text) bool stable session
pg_has_role(name,text) bool stable session
pg_has_role(oid,text) bool stable session
`
