import { withLock } from '../../cluster/host/lock.ts'
import { paths, repository } from '../../cluster/host/state.ts'
import { runSteps } from '../../cluster/host/steps.ts'
import { imageSteps } from '../../cluster/images/main.ts'
import { imageSettings } from '../../cluster/release/release.ts'
import { readRunning } from './running-release.ts'

/** The chart of this checkout. */
export const CHART = `${repository}/charts/tintype`

/**
 * Chart values with the images of the running release, and with the image of versitygw, which is built and loaded if it is missing. Other images are not
 * built: older ones would be removed, although the running release may need them.
 */
export async function imageOptions(): Promise<string[]> {
  const { tags } = await readRunning()
  const versitygw = await withLock(paths.lock, async () => {
    const { steps, tags: built } = await imageSteps(true, ['versitygw'])
    await runSteps(steps, { write: () => undefined, isTerminal: false, columns: 120 })
    return built
  })
  return imageSettings(new Map([...Object.entries(tags), ...versitygw])).flatMap((setting) => ['--set', setting])
}
