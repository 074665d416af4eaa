package catalog

// Key is a table's primary key or unique constraint.
type Key struct {
	Name    string // of the constraint, as PostgreSQL names it: t_pkey, t_a_b_key
	Cols    []int  // column indexes
	Primary bool
}

// KeyNames are the names of a table's keys.
type KeyNames struct {
	Primary string   `json:",omitempty"` // empty: as PostgreSQL would name it
	Unique  []string `json:",omitempty"` // by index in Relation.Unique; empty, or too few: as PostgreSQL would name them
}

// Keys lists a table's keys: the primary key, unless it is a hidden row id, then unique constraints in order of declaration.
func (r *Relation) Keys() []Key {
	var out []Key
	if r.Kind != Table {
		return nil
	}
	if !r.HiddenKey && len(r.PrimaryKey) > 0 {
		name := r.KeyNames.Primary
		if name == "" {
			name = r.Name + "_pkey"
		}
		out = append(out, Key{name, r.PrimaryKey, true})
	}
	for i, u := range r.Unique {
		out = append(out, Key{r.uniqueName(i), u, false})
	}
	return out
}

func (r *Relation) uniqueName(i int) string {
	if i < len(r.KeyNames.Unique) && r.KeyNames.Unique[i] != "" {
		return r.KeyNames.Unique[i]
	}
	cols := r.Unique[i]
	name := r.Name
	for _, c := range cols {
		name += "_" + r.Columns[c].Name
	}
	return name + "_key"
}
