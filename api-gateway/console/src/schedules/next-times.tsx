import { formatAge } from '../format/text.ts'
import { findNextTimes, formatIn } from './timing.ts'

const COUNT = 5

/** The next times of an expression, in its time zone. Nothing if the input is not valid, which the form reports. */
export function NextTimesList({ schedule, zone, anchor }: { schedule: string; zone: string; anchor: number }) {
  const now = Date.now()
  const found = findNextTimes(schedule.trim(), zone.trim(), { now, anchor, count: COUNT })
  if ('problem' in found) return null
  return (
    <section aria-label="Next times">
      <p class="hint">Next times in {zone.trim()}</p>
      <ul class="plain-list">
        {found.times.map((time) => (
          <li key={time}>
            {formatIn(zone.trim(), time)} <span class="soft">{formatAge(new Date(time).toISOString(), new Date(now))}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
