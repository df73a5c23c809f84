import { formatNumber } from '../format/text.ts'

export interface Day {
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
