import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../report/statistics.ts'
import { CHROMIUM } from './measure.ts'
import { memoryOfRunner } from './memory.ts'
import { openRunner } from './runners.ts'
import { openSite } from './site.ts'
import { openStore } from './store.ts'

/** Memory of a runner over many captures. */
export interface GrowthSample {
  title: string
  /** Number of captures so far, and MiB of the runner alone and with both browsers. */
  points: { captures: number; runner: number; all: number }[]
}

/** Captures between measurements of memory, which is read several times, because closing tabs takes a moment. */
const STEP = 50
const LOOKS = 5
const LOOK_MILLISECONDS = 300

const RUNS = [
  { title: 'one browser, never replaced', captures: 300, maxCaptures: 1_000_000 },
  { title: 'as shipped', captures: 1_000 },
] as const

/** Captures the corpus repeatedly, with a new runner for each run. */
export async function measureGrowth(progress: (line: string) => void): Promise<GrowthSample[]> {
  const site = await openSite()
  const store = await openStore()
  const samples: GrowthSample[] = []
  try {
    for (const { title, captures, ...settings } of RUNS) {
      const runner = await openRunner({ executablePath: CHROMIUM, chromiumSandbox: process.getuid?.() !== 0, ...settings }, store)
      const points: GrowthSample['points'] = []
      for (let done = 0; done <= captures; done++) {
        if (done % STEP === 0 && done > 0) points.push({ captures: done, ...(await look(runner.pid)) })
        if (done % STEP === 0) progress(`growth: ${title}, ${done} of ${captures}`)
        await runner.capture(site.corpus[done % site.corpus.length] ?? '', randomUUID())
      }
      samples.push({ title, points })
      await runner.close()
    }
    return samples
  } finally {
    await store.close()
    site.close()
  }
}

async function look(pid: number): Promise<{ runner: number; all: number }> {
  const seen: { runner: number; all: number }[] = []
  for (let n = 0; n < LOOKS; n++) {
    await sleep(LOOK_MILLISECONDS)
    seen.push(memoryOfRunner(pid))
  }
  return { runner: median(seen.map(({ runner }) => runner)), all: median(seen.map(({ all }) => all)) }
}
