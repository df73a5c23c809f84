import type { Test } from 'tap'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toId, toObjectName } from '../../../crds/src/identifiers/names.ts'
import { isFinished, type Screenshot, type ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { eventually } from '../eventually.ts'
import { call, download, type RecordBody } from './api-client.ts'
import { AS_GATEWAY, kubectlJson } from './environment.ts'
import { createKind } from './pools.ts'

// Screenshots created with kubectl: they can name a pool and an account, and no gateway has checked their URL.

/** Creates a Screenshot and resolves to its name, which contains an id, so that the API returns it too. It is deleted with the test. */
export async function createScreenshot(t: Test, spec: ScreenshotSpec): Promise<string> {
  const name = toObjectName(newId('scr', new Date()))
  await createKind(t, 'Screenshot', name, spec, AS_GATEWAY)
  return name
}

/** The current state of a Screenshot. */
export const screenshotOf = (name: string): Promise<Screenshot> => kubectlJson<Screenshot>(['get', 'screenshot', name])

/** Waits until a runner has claimed it. */
export const claimed = (name: string): Promise<Screenshot> =>
  eventually(`${name} is claimed`, async () => {
    const shot = await screenshotOf(name)
    return shot.status?.phase === 'Running' && shot
  })

/** Waits until it has finished. */
export const ended = (name: string, milliseconds = 120_000): Promise<Screenshot> =>
  eventually(
    `${name} ends`,
    async () => {
      const shot = await screenshotOf(name)
      return isFinished(shot) && shot
    },
    milliseconds,
  )

/** Creates one and waits until it has finished. */
export const captureWith = async (t: Test, spec: ScreenshotSpec): Promise<Screenshot> => ended(await createScreenshot(t, spec))

/** Downloads the file through the API with the account's key. The replica may learn of the end later than kubectl. */
export async function fileOf(name: string, key?: string): Promise<Buffer> {
  const { body } = await call<RecordBody>(`/api/v1/screenshots/${toId(name)}?wait=10`, key === undefined ? {} : { key })
  return download(body)
}
