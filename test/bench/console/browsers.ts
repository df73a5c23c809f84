import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type GatewayMemory, parseResident } from '../rest/memory.ts'
import { openList } from './list.ts'
import { type ConsoleStage, openContext } from './stage.ts'

// Memory of the gateway while the console is open in many browsers, each of which reads the list every five seconds.

export const BROWSERS = 20
/** Twelve refreshes of each browser. */
const OPEN_MILLISECONDS = 60_000

export async function measureBrowsers(stage: ConsoleStage, progress: (line: string) => void): Promise<GatewayMemory[]> {
  const { gateway } = stage
  const samples: GatewayMemory[] = []
  const look = (when: string): void => {
    samples.push({ when, ...parseResident(readFileSync(`/proc/${gateway.process.pid}/status`, 'utf8')) })
    progress(`memory ${when}`)
  }
  look('before')
  const contexts = await Promise.all(Array.from({ length: BROWSERS }, () => openContext(stage)))
  for (const context of contexts) await openList(await context.newPage(), gateway.url)
  look(`${BROWSERS} browsers have opened the list`)
  await sleep(OPEN_MILLISECONDS)
  look('a minute later')
  for (const context of contexts) await context.close()
  await sleep(OPEN_MILLISECONDS / 2)
  look('half a minute after they were closed')
  return samples
}
