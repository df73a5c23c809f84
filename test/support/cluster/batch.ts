import type { Test } from 'tap'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { API_VERSION, toObjectName } from '../../../crds/src/identifiers/names.ts'
import { isFinished, type Screenshot, type ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { eventually } from '../eventually.ts'
import { AS_GATEWAY, kubectl, kubectlJson, requireKubectl } from './environment.ts'
import { NAMESPACE } from './tested-release.ts'

/**
 * Creates all Screenshots together and waits until all have finished. Results are in the order of `specs`. They are deleted with the test.
 */
export async function captureAll(t: Test, specs: readonly ScreenshotSpec[], milliseconds = 400_000): Promise<Screenshot[]> {
  const batch = newId('batch', new Date()).replace('_', '-')
  const items = specs.map((spec) => ({
    apiVersion: API_VERSION,
    kind: 'Screenshot',
    metadata: { name: toObjectName(newId('scr', new Date())), namespace: NAMESPACE, labels: { batch } },
    spec,
  }))
  const those = ['screenshots', '-l', `batch=${batch}`]
  t.teardown(() => kubectl(['delete', ...those, '--wait=false']))
  await requireKubectl([...AS_GATEWAY, 'create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const look = async () => {
    const { items: seen } = await kubectlJson<{ items: Screenshot[] }>(['get', ...those])
    return seen.length === items.length && seen.every(isFinished) && seen
  }
  const ended = await eventually(`${items.length} captures`, look, milliseconds)
  return items.map(({ metadata }) => ended.find((shot) => shot.metadata.name === metadata.name) as Screenshot)
}
