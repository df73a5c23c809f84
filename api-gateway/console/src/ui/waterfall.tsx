import { formatMilliseconds, formatNumber } from '../format/text.ts'
import { toStepTitle, toWaterfall } from '../format/waterfall.ts'

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
