// Reads a dashboard from standard input as Grafana's own schema has it, and says what that does not have.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

func known() {
	// Options of panels and queries have schemas of their own; all sixty take Go minutes to build.
	runtime := cog.NewRuntime()
	runtime.RegisterPanelcfgVariant(stat.VariantConfig())
	runtime.RegisterPanelcfgVariant(table.VariantConfig())
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
}

func main() {
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	known()
	strict, read := dashboard.Dashboard{}, dashboard.Dashboard{}
	if err := strict.UnmarshalJSONStrict(raw); err != nil {
		fmt.Println(err)
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		fmt.Println(err)
	} else if err := read.Validate(); err != nil {
		fmt.Println(err)
	}
}
