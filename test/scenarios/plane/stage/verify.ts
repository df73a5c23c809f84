import { screenshots } from '../../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../../crds/client/kube-http.ts'
import { Reflector } from '../../../../crds/client/reflector.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import { isFinished, type Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { mapConcurrently } from '../../../../crds/src/runtime/lists.ts'
import { eventually } from '../../../support/eventually.ts'
import type { Report } from '../../harness/scenario.ts'
import { type Accepted, type RequestResults, send } from './requests.ts'

// Verifies that each accepted Screenshot has finished once, with its own picture, whatever fault was injected.

interface Shown {
  status: string
  attempts: number
  download_url: string | null
  error: { code: string; message: string } | null
}

/** The outcome of many Screenshots. */
export interface Outcome {
  completed: number
  /** Failed Screenshots by error code. Only some scenarios allow them. */
  failed: { [code: string]: number }
  /** Screenshots with more than one attempt. */
  repeated: number
  /** Violations: not finished, no picture, or the picture of another one. */
  faults: string[]
}

const AT_ONCE = 16
const PATIENCE_MILLISECONDS = 300_000

/** Waits until all have finished, then checks every record and every picture through a gateway. */
async function verifyAll(url: string, accepted: readonly Accepted[]): Promise<Outcome> {
  const outcome: Outcome = { completed: 0, failed: {}, repeated: 0, faults: [] }
  const end = Date.now() + PATIENCE_MILLISECONDS
  await mapConcurrently(accepted, AT_ONCE, async (one) => {
    const fault = await verifyOne(url, one, outcome, Math.max(1_000, end - Date.now())).catch((error: Error) => error.message)
    if (fault) outcome.faults.push(`${one.id}: ${fault}`)
  })
  return outcome
}

async function verifyOne(url: string, { id, key }: Accepted, outcome: Outcome, milliseconds: number): Promise<string | undefined> {
  const record = await eventually(
    `${id} has ended`,
    async () => {
      const { status, text } = await send(`${url}/v1/screenshots/${id}`, { key })
      const body = status === 200 ? (JSON.parse(text) as Shown) : undefined
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

/** Reports whether every accepted Screenshot ended with its own picture. `name` begins the claim. */
export async function checkPictures(
  { holds }: Report,
  url: string,
  accepted: readonly Accepted[],
  name = 'every accepted',
): Promise<Outcome> {
  const outcome = await verifyAll(url, accepted)
  const { completed, failed, repeated, faults } = outcome
  const failures = Object.entries(failed).map(([code, count]) => `${count} ${code}`)
  const violations = faults.length > 0 ? [`${faults.length} FAULTS: ${faults.slice(0, 3).join('; ')}`] : []
  const measured = [`${completed} completed`, ...failures, `${repeated} repeated`, ...violations].join(', ')
  holds(`${name} Screenshot ended with its own picture`, faults.length === 0 && completed === accepted.length, measured)
  return outcome
}

/** Reports whether the gateway accepted every request. `name` begins the claim. */
export function checkAccepted({ holds }: Report, { accepted, others }: RequestResults, name = ''): void {
  const isMet = Object.keys(others).length === 0
  holds(`${name}every request was accepted`, isMet, `${accepted.length} accepted, others ${JSON.stringify(others)}`)
}

const endOf = ({ status }: Screenshot): string =>
  JSON.stringify([status?.phase, status?.attempt, status?.completionTime, status?.runner?.uid, status?.result?.etag])

/** Starts watching all Screenshots during a fault: a finished Screenshot must not change its end. */
export async function watchEnds(http: KubeHttp) {
  const reflector = new Reflector<Screenshot>({ http, resource: screenshots })
  const faults: string[] = []
  reflector.addListener(({ type, object, old }) => {
    if (type === 'deleted' || !old || !isFinished(old) || old.metadata.uid !== object.metadata.uid) return
    if (endOf(old) !== endOf(object)) faults.push(`${object.metadata.name} ended as ${endOf(old)} and then as ${endOf(object)}`)
  })
  reflector.start()
  await reflector.whenSynced()
  return { faults, stop: () => reflector.stop() }
}
