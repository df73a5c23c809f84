import { formatMilliseconds, formatNumber, toStepTitle, toWaterfall } from '../format/text.ts'

/** Duration of each step of a capture. */
export function Waterfall({ steps }: { steps: Readonly<Record<string, number>> }) {
  const { bars, total } = toWaterfall(steps)
  if (total === 0) return null
  return (
    <table class="waterfall">
      <caption>Steps of the capture: {formatMilliseconds(total)}</caption>
      <tbody>
        {bars.map(({ name, start, length }) => (
          <tr key={name}>
            <th scope="row">{toStepTitle(name)}</th>
            <td class="track">
              <span class="bar" style={{ left: `${(100 * start) / total}%`, width: `${(100 * length) / total}%` }} />
            </td>
            <td class="number">{formatMilliseconds(length)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Numbers of failures by code, with their share as a bar. */
export function Bars({ rows }: { rows: readonly { name: string; number: number }[] }) {
  const most = Math.max(1, ...rows.map(({ number }) => number))
  return (
    <table class="waterfall">
      <tbody>
        {rows.map(({ name, number }) => (
          <tr key={name}>
            <th scope="row" class="mono">
              {name}
            </th>
            <td class="track">
              <span class="bar bad" style={{ left: 0, width: `${(100 * number) / most}%` }} />
            </td>
            <td class="number">{formatNumber(number)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface Day {
  /** UTC day, such as `2026-11-25`. */
  date: string
  count: number
}

const short = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const formatDay = (date: string): string => short.format(new Date(date))

/** A day is labeled if it ends a week, so that labels do not overlap. Phones have room for each second label. */
function labelOf(index: number, count: number): string | undefined {
  const days = count - 1 - index
  if (days % 7 !== 0) return undefined
  return days % 14 === 0 ? 'label' : 'label minor'
}

/** Bars of days, the oldest first, and the same numbers as a table. */
export function DayBars({ days }: { days: readonly Day[] }) {
  const most = Math.max(1, ...days.map(({ count }) => count))
  return (
    <>
      <div class="days" aria-hidden="true">
        <span class="most">{formatNumber(most)}</span>
        {days.map(({ date, count }, index) => {
          const label = labelOf(index, days.length)
          return (
            <span key={date} class="day" title={`${formatDay(date)}: ${formatNumber(count)}`}>
              <span class={`fill${count === 0 ? ' none' : ''}`} style={{ height: `${(100 * count) / most}%` }} />
              {label && <span class={label}>{formatDay(date)}</span>}
            </span>
          )
        })}
      </div>
      <details>
        <summary>Numbers</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" class="number">
                Units
              </th>
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map(({ date, count }) => (
              <tr key={date}>
                <th scope="row">{date}</th>
                <td class="number">{formatNumber(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  )
}
