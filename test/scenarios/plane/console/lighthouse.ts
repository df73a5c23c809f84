import path from 'node:path'
import { run } from '../../../cluster/host/exec.ts'
import { installPackages } from '../../engine/stage/engine.ts'
import type { ConsoleStage } from './console-stage.ts'

// Lighthouse from npm. It is installed outside the repository, because it is four times as large as all other packages of the tests.

export const LIGHTHOUSE_VERSION = '13.5.0'
const CHROMIUM = '/usr/bin/chromium-headless-shell'

export type Device = 'mobile' | 'desktop'

/** One run of Lighthouse. Scores are 0 to 100, times are milliseconds as Lighthouse simulates them. */
export type LighthouseRun = Awaited<ReturnType<typeof runLighthouse>>

interface Report {
  categories: Readonly<Record<'performance' | 'best-practices', { score: number | null }>>
  audits: Readonly<Record<string, { numericValue?: number }>>
  runtimeError?: { message: string }
}

/** Opens a page of the console in a new browser, signed in, with an empty cache. `page` comes after `#/`. */
export async function runLighthouse({ gateway: { url }, cookie }: ConsoleStage, page: string, device: Device) {
  const home = await installPackages(`lighthouse-${LIGHTHOUSE_VERSION}`, { lighthouse: LIGHTHOUSE_VERSION })
  const args = [
    path.join(home, 'node_modules/lighthouse/cli/index.js'),
    `${url}/#/${page}`,
    '--quiet',
    '--output=json',
    '--only-categories=performance,best-practices',
    '--chrome-flags=--no-sandbox --headless',
    `--extra-headers=${JSON.stringify({ cookie: `tintype-session=${cookie}` })}`,
    ...(device === 'desktop' ? ['--preset=desktop'] : []),
  ]
  const report: Report = JSON.parse(await run(process.execPath, args, { environment: { CHROME_PATH: CHROMIUM } }))
  if (report.runtimeError) throw new Error(`Lighthouse cannot measure ${page}: ${report.runtimeError.message}`)
  const score = (category: keyof Report['categories']): number => Math.round(100 * (report.categories[category].score ?? Number.NaN))
  const value = (audit: string): number => report.audits[audit]?.numericValue ?? Number.NaN
  return {
    performance: score('performance'),
    bestPractices: score('best-practices'),
    firstPaint: value('first-contentful-paint'),
    largestPaint: value('largest-contentful-paint'),
    blocking: value('total-blocking-time'),
    shift: value('cumulative-layout-shift'),
  }
}
