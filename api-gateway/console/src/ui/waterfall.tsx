import { formatMilliseconds } from '../format/text.ts'
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
