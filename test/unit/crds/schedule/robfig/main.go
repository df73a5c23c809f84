// Prints the times at which robfig/cron, the library of Kubernetes' CronJob, runs each expression within a year, as JSON.
// Run it with `go run . > ../robfig-times.json` in this folder.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"time"
	_ "time/tzdata"

	"github.com/robfig/cron/v3"
)

// Each zone changes its clocks in 2026. Santiago and Havana change them at midnight, New York and Zurich at night.
var zones = []string{"UTC", "Europe/Zurich", "America/New_York", "Australia/Sydney", "America/Santiago", "America/Havana", "Asia/Kolkata", "Pacific/Chatham"}

var expressions = []string{
	"* * * * *", "*/5 * * * *", "*/7 * * * *", "0 * * * *", "30 * * * *", "15,45 * * * *", "0-10/5 * * * *", "5/20 * * * *",
	"30 2 * * *", "0 2 * * *", "30 1 * * *", "0 0 * * *", "30 0 * * *", "0 3 * * *", "0 1-3 * * *", "*/30 0-4 * * *",
	"0 */3 * * *", "0 */2 * * *", "0 23 * * *", "59 23 * * *", "0 9 * * 1-5", "0 9 * * MON-FRI", "30 2 * * SUN", "30 2 * * 0",
	"0 0 1 * *", "0 0 31 * *", "0 12 1,15 * *", "0 12 1,15 * MON", "0 12 13 * FRI", "0 12 */2 * *", "0 12 */2 * MON", "0 12 * * */2",
	"0 12 ? * TUE", "0 12 15 * ?", "0 0 29 2 *", "0 6 * 3,10 *", "0 6 * mar,Oct sun", "30 2 28-31 3 *", "0 0 1 1 *", "*/15 1,2 29 3 *",
	"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually",
}

type result struct {
	Schedule string `json:"schedule"`
	Zone     string `json:"zone"`
	Count    int    `json:"count"`
	// SHA-256 of the Unix times in seconds, one per line.
	Sha256 string  `json:"sha256"`
	First  []int64 `json:"first"`
}

func main() {
	results := []result{}
	for index, expression := range expressions {
		schedule, err := cron.ParseStandard(expression)
		if err != nil {
			panic(err)
		}
		for place, zone := range zones {
			// Every fourth zone for each expression, and all zones for those that are due at night.
			if index%4 != place%4 && (index < 8 || index > 18) {
				continue
			}
			// A year of minutes takes long to compare; one zone shows the same as two.
			if expression == "* * * * *" && zone != "America/Santiago" {
				continue
			}
			location, err := time.LoadLocation(zone)
			if err != nil {
				panic(err)
			}
			hash := sha256.New()
			entry := result{Schedule: expression, Zone: zone, First: []int64{}}
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).In(location)
			end := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
			for at = schedule.Next(at); !at.IsZero() && at.Before(end); at = schedule.Next(at) {
				fmt.Fprintf(hash, "%d\n", at.Unix())
				if entry.Count < 3 {
					entry.First = append(entry.First, at.Unix())
				}
				entry.Count++
			}
			entry.Sha256 = hex.EncodeToString(hash.Sum(nil))
			results = append(results, entry)
		}
	}
	fmt.Println("[")
	for index, entry := range results {
		line, _ := json.Marshal(entry)
		separator := ","
		if index == len(results)-1 {
			separator = ""
		}
		fmt.Fprintf(os.Stdout, "  %s%s\n", line, separator)
	}
	fmt.Println("]")
}
