import type { Pod } from '../../../../crds/client/kinds.ts'
import { Store } from '../../../../crds/client/lister.ts'
import { Label } from '../../../../crds/src/identifiers/names.ts'
import type { Screenshot, ScreenshotStatus } from '../../../../crds/src/kinds/screenshot.ts'
import { Expectations } from '../../../../operator/src/runner/expectations.ts'
import type { RunnerIdentity } from '../../../../operator/src/runner/identity.ts'
import { CLAIM_INDEX, claimedBy, POOL_INDEX, RUNNER_INDEX, Runners, UID_INDEX } from '../../../../operator/src/runner/runners.ts'
import { aScreenshot, NOON } from '../../../support/fakes/builders.ts'
import { aPod } from '../../../support/fakes/runners.ts'

const sandbox = { chromiumSandbox: true, jail: true, detail: '' }
export const identity = { key: {}, sandbox, version: '1', captures: 0, accountName: undefined } as RunnerIdentity

/** Ready runners with these names that have proved their identity at noon, and the caches from which the operator knows them. */
export function runnerStores(...names: string[]) {
  const pods = new Store<Pod>()
    .addIndex(POOL_INDEX, ({ metadata }) => metadata.labels?.[Label.pool])
    .addIndex(UID_INDEX, ({ metadata }) => metadata.uid)
  const screenshots = new Store<Screenshot>().addIndex(CLAIM_INDEX, claimedBy).addIndex(RUNNER_INDEX, ({ status }) => status?.runner?.uid)
  const expectations = new Expectations()
  const runners = new Runners({ pods, screenshots, expectations })
  for (const name of names) {
    pods.set(aPod({ name }))
    runners.noteIdentity(`uid-of-${name}`, identity, NOON.getTime())
  }
  /** Runner `a` captures a Screenshot. */
  const claim = (name: string, accountName = 'red', status: ScreenshotStatus = { phase: 'Running' }) =>
    screenshots.set(aScreenshot({ name, spec: { accountName }, status: { ...status, runner: { pod: 'a', uid: 'uid-of-a' } } }))
  return { pods, screenshots, runners, expectations, claim }
}
