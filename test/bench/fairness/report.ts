import { summarize } from '../report/statistics.ts'
import { type Table, toCell } from '../report/table.ts'
import type { Bounds } from './bounds.ts'
import type { BurstTime } from './scaling.ts'
import type { Wait, WaitsOrder } from './waits.ts'
import type { Share } from './weights.ts'

// Formats the results of the fairness benchmark as tables. Pure.

/** Waits of single screenshots behind batches. */
export function waitsTable(waits: readonly Wait[], { batches, runners, captureMilliseconds }: WaitsOrder): Table {
  const accounts = [...new Set(waits.map(({ account }) => account))]
  const row = (name: string, of: readonly Wait[]): string[] => {
    const { count, p50, p95 } = summarize(of.map(({ milliseconds }) => milliseconds))
    const inCaptures = (p95 / captureMilliseconds).toFixed(2)
    return [name, String(count), toCell(p50), toCell(p95), inCaptures, String(Math.max(...of.map(({ overtakenBy }) => overtakenBy)))]
  }
  return {
    title: `Wait for a runner (ms) behind ${batches} batches of 100 of another account; ${runners} runners, ${captureMilliseconds} ms per capture (target: p95 within 2 capture times)`,
    head: ['account', 'screenshots', 'p50', 'p95', 'p95 in capture times', 'most captures started meanwhile'],
    rows: [
      ...accounts.map((name) =>
        row(
          name,
          waits.filter(({ account }) => account === name),
        ),
      ),
      row('all', waits),
    ],
  }
}

/** Captures of each plan. */
export function weightsTable(shares: readonly Share[]): Table {
  const total = shares.reduce((sum, { captures }) => sum + captures, 0)
  return {
    title: `Captures of accounts of all plans with queued screenshots, over ${total} captures (target: within 10 % of the weight)`,
    head: ['plan', 'weight', 'captures', 'expected by weight', 'deviation'],
    rows: shares.map(({ plan, weight, captures, due }) => [
      plan,
      String(weight),
      String(captures),
      due.toFixed(1),
      `${(((captures - due) / due) * 100).toFixed(1)} %`,
    ]),
  }
}

/** Duration of a burst with and without scaling. */
export function scalingTable(
  times: readonly BurstTime[],
  { burst, captureMilliseconds }: { burst: number; captureMilliseconds: number },
): Table {
  return {
    title: `A burst of ${burst}, ${captureMilliseconds} ms per capture, from one warm runner (target: sooner with scaling)`,
    head: ['at most', 'until the last completion'],
    rows: times.map(({ maxPods, milliseconds }) => [maxPods === 1 ? '1 runner' : `${maxPods} runners`, `${toCell(milliseconds)} ms`]),
  }
}

/** Responses to other accounts while one account is at its limit. */
export function boundsTable({ refusal, before, after, others }: Bounds): Table {
  return {
    title: 'One account at the limit of its queue (target: others get no 503, and a rejected create writes nothing)',
    head: ['account', 'responses'],
    rows: [
      [
        'the account at its limit',
        `${refusal.status} ${refusal.body.error?.code}, Retry-After ${refusal.retryAfter}; ${after - before} written`,
      ],
      [
        'others',
        Object.entries(others)
          .map(([status, count]) => `${count} × ${status}`)
          .join(', '),
      ],
    ],
  }
}
