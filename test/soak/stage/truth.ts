import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { type Accepted, send } from './clients.ts'

// What must hold whatever was broken: each accepted Screenshot has ended, once, with its own picture.

interface Record {
  status: string
  attempts: number
  download_url: string | null
  error: { code: string; message: string } | null
}

/** What became of many. */
export interface Verdict {
  completed: number
  /** Failed ones by their code: allowed only where a part says so. */
  failed: { [code: string]: number }
  /** Those that took more than one attempt. */
  repeated: number
  /** What must not be: not ended, no picture, or another's. */
  faults: string[]
}

const AT_ONCE = 16

/** Waits for the end of all, then looks at every record and every picture, through a gateway. */
export async function judge(url: string, accepted: readonly Accepted[], milliseconds = 300_000): Promise<Verdict> {
  const verdict: Verdict = { completed: 0, failed: {}, repeated: 0, faults: [] }
  const end = Date.now() + milliseconds
  const rest = accepted.values()
  const work = async () => {
    for (const one of rest) {
      const fault = await judgeOne(url, one, verdict, Math.max(1_000, end - Date.now())).catch((error: Error) => error.message)
      if (fault) verdict.faults.push(`${one.id}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return verdict
}

async function judgeOne(url: string, { id, key }: Accepted, verdict: Verdict, milliseconds: number): Promise<string | undefined> {
  const record = await eventually(
    `${id} has ended`,
    async () => {
      const { status, text } = await send(`${url}/v1/screenshots/${id}`, { key })
      const body = status === 200 ? (JSON.parse(text) as Record) : undefined
      return body !== undefined && body.status !== 'pending' && body
    },
    milliseconds,
  )
  if (record.attempts > 1) verdict.repeated++
  if (record.status === 'failed') {
    const code = record.error?.code ?? 'none'
    verdict.failed[code] = (verdict.failed[code] ?? 0) + 1
    return record.error?.message ? undefined : 'failed without a reason'
  }
  verdict.completed++
  if (record.download_url === null) return 'completed without a picture'
  const file = await fetch(new URL(record.download_url, url))
  const text = await file.text()
  const wanted = `${toObjectName(id)} attempt ${record.attempts} on `
  return text.startsWith(wanted) ? undefined : `its picture says ${file.status} ${text.slice(0, 100)}`
}

/** The verdict in a few words. */
export function toWords({ completed, failed, repeated, faults }: Verdict): string {
  const failures = Object.entries(failed).map(([code, count]) => `${count} ${code}`)
  return [
    `${completed} completed`,
    ...failures,
    `${repeated} repeated`,
    ...(faults.length > 0 ? [`${faults.length} FAULTS: ${faults.slice(0, 3).join('; ')}`] : []),
  ].join(', ')
}
