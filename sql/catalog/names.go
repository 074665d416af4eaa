package catalog

// Key is a table's primary key or unique constraint.
type Key struct {
	Name    string // of the constraint, as PostgreSQL names it: t_pkey, t_a_b_key
	Cols    []int  // column indexes
	Primary bool
}

// Keys lists a table's keys: the primary key, unless it is a hidden row id, then unique constraints in order of declaration.
func (r *Relation) Keys() []Key {
	var out []Key
	if r.Kind != Table {
		return nil
	}
	if !r.HiddenKey && len(r.PrimaryKey) > 0 {
		out = append(out, Key{r.Name + "_pkey", r.PrimaryKey, true})
	}
	for _, u := range r.Unique {
		out = append(out, Key{r.uniqueName(u), u, false})
	}
	return out
}

func (r *Relation) uniqueName(cols []int) string {
	name := r.Name
	for _, c := range cols {
		name += "_" + r.Columns[c].Name
	}
	return name + "_key"
}
