import { api, type Schemas } from '../api/client.ts'
import { formatInstant, formatNumber } from '../format/text.ts'
import type { Page } from '../routing/page.ts'
import { DayBars } from '../ui/day-bars.tsx'
import { ErrorNote } from '../ui/notes.tsx'
import { useData } from '../ui/use-data.ts'

const REFRESH_MILLISECONDS = 10_000

const Usage: Page = () => {
  const { value, error } = useData('usage', async () => (await api<Schemas['Usage']>('/usage/current')).data.data, REFRESH_MILLISECONDS)
  if (!value) return error ? <ErrorNote error={error} /> : <p class="empty">Loading…</p>
  const { count, limit, percentage, remaining, plan, rate_limit_per_minute: rate, reset_at, overage, period } = value
  return (
    <>
      {error ? <ErrorNote error={error} /> : null}
      <section class="panel" aria-labelledby="month-title">
        <div class="panel-head">
          <h2 id="month-title">{period}</h2>
          <span class="hint">Plan {plan}</span>
        </div>
        <p class="figure">
          <strong>{formatNumber(count)}</strong> of {formatNumber(limit)} screenshots
        </p>
        <meter class="quota" min={0} max={100} value={Math.min(100, percentage)} aria-label="Used part of the quota">
          {percentage} %
        </meter>
        <dl class="facts">
          <dt>Used</dt>
          <dd>{percentage} %</dd>
          <dt>Remaining</dt>
          <dd>{formatNumber(remaining)}</dd>
          <dt>Resets</dt>
          <dd>{formatInstant(reset_at)}</dd>
          <dt>Rate limit</dt>
          <dd>{rate === null ? 'no limit' : `${formatNumber(rate)} requests per minute`}</dd>
          {overage ? (
            <>
              <dt>Overage</dt>
              <dd>
                {formatNumber(overage.count)}
                {overage.amount === null ? '' : `, costs ${overage.amount.toFixed(2)}`}
              </dd>
            </>
          ) : null}
        </dl>
      </section>
      <DailyUsage />
    </>
  )
}

function DailyUsage() {
  const { value, error } = useData(
    'daily usage',
    async () => (await api<Schemas['DailyUsage']>('/usage/days')).data.data,
    REFRESH_MILLISECONDS,
  )
  return (
    <section class="panel" aria-labelledby="days-title">
      <div class="panel-head">
        <h2 id="days-title">By day</h2>
        <span class="hint">A screenshot is one unit, a video one for each 10 seconds</span>
      </div>
      {error ? <ErrorNote error={error} /> : null}
      {value?.length === 0 ? <p class="soft">No usage in the last two months.</p> : null}
      {value && value.length > 0 ? <DayBars days={value} /> : null}
    </section>
  )
}

export default Usage
