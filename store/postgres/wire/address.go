package wire

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/conninfo"
)

// maxConns is the maximum number of connections if the address does not set it.
const maxConns = 16

// Parse returns the settings of a pool for an address.
//
// The error wraps [skein.ErrInvalid], and does not contain the password.
func Parse(dsn string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w address: %w", skein.ErrInvalid, withoutPassword(dsn, err))
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = maxConns
	}
	switch mode := cfg.ConnConfig.DefaultQueryExecMode; mode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol: // these guess the types of arguments
		return nil, fmt.Errorf("postgres: %w address: default_query_exec_mode is %s: for an old pooler, use cache_describe", skein.ErrInvalid, mode)
	}
	params := cfg.ConnConfig.RuntimeParams
	params["application_name"] = cmp.Or(params["application_name"], "skein")
	// Do not leave the meaning of texts to the database's settings. Poolers know
	// these two.
	params["client_encoding"], params["standard_conforming_strings"] = "UTF8", "on"
	return cfg, nil
}

// withoutPassword returns why dsn cannot be parsed, without the password. The
// error contains the address: for a URL, the password is masked; for keywords and
// values, a part of the password may be taken for something else.
func withoutPassword(dsn string, err error) error {
	if !conninfo.Is(dsn) {
		return err
	}
	masked, whole := conninfo.Masked(dsn)
	if !whole {
		return fmt.Errorf("%q: want KEYWORD=VALUE pairs separated by spaces; quote a value that contains spaces with apostrophes", masked)
	}
	if _, same := pgxpool.ParseConfig(masked); same != nil {
		return same
	}
	return fmt.Errorf("%q: cannot be parsed; is a character of the password not escaped?", masked)
}

// Address returns where a database is, for people, without the password.
func Address(c *pgx.ConnConfig) string {
	return fmt.Sprintf("postgres://%s:%d/%s", c.Host, c.Port, c.Database)
}
