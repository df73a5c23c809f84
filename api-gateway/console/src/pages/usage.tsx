import { api, type Schemas } from '../api/client.ts'
import { formatInstant, formatNumber } from '../format/text.ts'
import type { Page } from '../routing/router.ts'
import { DayBars } from '../ui/bars.tsx'
import { ErrorNote, Missing } from '../ui/notes.tsx'
import { Fact, Panel } from '../ui/panel.tsx'
import { useData } from '../ui/use-data.ts'

const REFRESH_MILLISECONDS = 10_000

const Usage: Page = () => {
  const { value, error } = useData('usage', async () => (await api<Schemas['Usage']>('/usage/current')).data.data, REFRESH_MILLISECONDS)
  if (!value) return <Missing error={error} />
  const { count, limit, percentage, remaining, plan, rate_limit_per_minute: rate, reset_at, overage, period } = value
  return (
    <>
      <ErrorNote error={error} />
      <Panel title={period} beside={<span class="hint">Plan {plan}</span>}>
        <p class="figure">
          <strong>{formatNumber(count)}</strong> of {formatNumber(limit)} units
        </p>
        <meter class="quota" min={0} max={100} value={Math.min(100, percentage)} aria-label="Used part of the quota">
          {percentage} %
        </meter>
        <dl class="facts">
          <Fact name="Used">{`${percentage} %`}</Fact>
          <Fact name="Remaining">{formatNumber(remaining)}</Fact>
          <Fact name="Resets">{formatInstant(reset_at)}</Fact>
          <Fact name="Rate limit">{rate === null ? 'no limit' : `${formatNumber(rate)} requests per minute`}</Fact>
          <Fact name="Overage">
            {overage && formatNumber(overage.count) + (overage.amount === null ? '' : `, costs ${overage.amount.toFixed(2)}`)}
          </Fact>
        </dl>
      </Panel>
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
    <Panel title="By day" beside={<span class="hint">A screenshot is one unit, a video one for each 10 seconds</span>}>
      <ErrorNote error={error} />
      {value?.length === 0 ? <p class="soft">No usage in the last two months.</p> : null}
      {value && value.length > 0 ? <DayBars days={value} /> : null}
    </Panel>
  )
}

export default Usage
