package sqlite

// sqliteVarints reads SQLite's variable-length integers, the highest bits first
// (https://sqlite.org/fileformat.html#varint). Once one is missing, it is bad.
type sqliteVarints struct {
	b   []byte
	bad bool
}

func (d *sqliteVarints) next() (v uint64) {
	for i, c := range d.b {
		if i == 8 {
			d.b = d.b[9:]
			return v<<8 | uint64(c)
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			d.b = d.b[i+1:]
			return v
		}
	}
	d.bad, d.b = true, nil
	return 0
}
