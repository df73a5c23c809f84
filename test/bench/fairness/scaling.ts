import { eventually } from '../../support/eventually.ts'
import { askBatches } from './ask.ts'
import type { FairnessStage } from './fairness-stage.ts'

/** Duration of a burst, from its request to the end of its last capture. */
export interface BurstTime {
  maxPods: number
  milliseconds: number
}

export interface ScalingOrder {
  burst: number
  captureMilliseconds: number
  maxPods: number
}

const LONG_MILLISECONDS = 300_000

/** The same burst without and with scaling, starting with one runner. */
export async function measureScaling(
  fairnessStage: FairnessStage,
  { burst, captureMilliseconds, maxPods }: ScalingOrder,
): Promise<BurstTime[]> {
  const { stage, gateway, newCustomer, setRunners } = fairnessStage
  const customer = await newCustomer('scaling', 'scale')
  const times: BurstTime[] = []
  for (const most of [1, maxPods]) {
    await setRunners(1, captureMilliseconds)
    await stage.setPool({ minIdle: 1, maxPods: most, targetDrainSeconds: 5 })
    const started = performance.now()
    const names = new Set(await askBatches(gateway.url, customer, 1, burst))
    await eventually(
      `${burst} are done`,
      async () => {
        const done = (await stage.screenshots.listAll()).filter(
          ({ metadata, status }) => names.has(metadata.name) && status?.phase === 'Completed',
        )
        return done.length === burst
      },
      LONG_MILLISECONDS,
    )
    times.push({ maxPods: most, milliseconds: performance.now() - started })
  }
  return times
}
