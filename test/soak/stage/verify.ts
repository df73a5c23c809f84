import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { type Accepted, send } from './clients.ts'

// Verifies that each accepted Screenshot has finished once, with its own picture, whatever fault was injected.

interface Record {
  status: string
  attempts: number
  download_url: string | null
  error: { code: string; message: string } | null
}

/** The outcome of many Screenshots. */
export interface Outcome {
  completed: number
  /** Failed Screenshots by error code. Only some parts allow them. */
  failed: { [code: string]: number }
  /** Screenshots with more than one attempt. */
  repeated: number
  /** Violations: not finished, no picture, or the picture of another one. */
  faults: string[]
}

const AT_ONCE = 16

/** Waits until all have finished, then checks every record and every picture through a gateway. */
export async function verifyAll(url: string, accepted: readonly Accepted[], milliseconds = 300_000): Promise<Outcome> {
  const outcome: Outcome = { completed: 0, failed: {}, repeated: 0, faults: [] }
  const end = Date.now() + milliseconds
  const rest = accepted.values()
  const work = async () => {
    for (const one of rest) {
      const fault = await judgeOne(url, one, outcome, Math.max(1_000, end - Date.now())).catch((error: Error) => error.message)
      if (fault) outcome.faults.push(`${one.id}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return outcome
}

async function judgeOne(url: string, { id, key }: Accepted, outcome: Outcome, milliseconds: number): Promise<string | undefined> {
  const record = await eventually(
    `${id} has ended`,
    async () => {
      const { status, text } = await send(`${url}/v1/screenshots/${id}`, { key })
      const body = status === 200 ? (JSON.parse(text) as Record) : undefined
      return body !== undefined && body.status !== 'pending' && body
    },
    milliseconds,
  )
  if (record.attempts > 1) outcome.repeated++
  if (record.status === 'failed') {
    const code = record.error?.code ?? 'none'
    outcome.failed[code] = (outcome.failed[code] ?? 0) + 1
    return record.error?.message ? undefined : 'failed without a reason'
  }
  outcome.completed++
  if (record.download_url === null) return 'completed without a picture'
  const file = await fetch(new URL(record.download_url, url))
  const text = await file.text()
  const wanted = `${toObjectName(id)} attempt ${record.attempts} on `
  return text.startsWith(wanted) ? undefined : `its picture says ${file.status} ${text.slice(0, 100)}`
}

/** Summarizes the outcome. */
export function describeOutcome({ completed, failed, repeated, faults }: Outcome): string {
  const failures = Object.entries(failed).map(([code, count]) => `${count} ${code}`)
  return [
    `${completed} completed`,
    ...failures,
    `${repeated} repeated`,
    ...(faults.length > 0 ? [`${faults.length} FAULTS: ${faults.slice(0, 3).join('; ')}`] : []),
  ].join(', ')
}
