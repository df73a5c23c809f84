import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { benchCache } from '../../engine/stage/engine.ts'
import { must } from '../../harness/must.ts'
import { CHROMIUM, type ConsoleStage } from './console-stage.ts'

// Lighthouse from npm. It is installed outside the repository, because it is four times as large as all other packages of the tests.

export const LIGHTHOUSE_VERSION = '13.5.0'
const HOME = path.join(benchCache, `lighthouse-${LIGHTHOUSE_VERSION}`)
const PROGRAM = path.join(HOME, 'node_modules/lighthouse/cli/index.js')

export type Device = 'mobile' | 'desktop'

/** One run of Lighthouse. Scores are 0 to 100, times are milliseconds as Lighthouse simulates them. */
export interface LighthouseRun {
  performance: number
  bestPractices: number
  firstPaint: number
  largestPaint: number
  blocking: number
  shift: number
}

interface Report {
  categories: Readonly<Record<'performance' | 'best-practices', { score: number | null }>>
  audits: Readonly<Record<string, { numericValue?: number }>>
  runtimeError?: { message: string }
}

async function install(): Promise<void> {
  if (existsSync(PROGRAM)) return
  await mkdir(HOME, { recursive: true })
  await writeFile(path.join(HOME, 'package.json'), '{}')
  await must('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `lighthouse@${LIGHTHOUSE_VERSION}`], { cwd: HOME })
}

/** Opens a page of the console in a new browser, signed in, with an empty cache. `page` comes after `#/`. */
export async function runLighthouse({ gateway: { url }, cookie }: ConsoleStage, page: string, device: Device): Promise<LighthouseRun> {
  await install()
  const args = [
    PROGRAM,
    `${url}/#/${page}`,
    '--quiet',
    '--output=json',
    '--only-categories=performance,best-practices',
    '--chrome-flags=--no-sandbox --headless',
    `--extra-headers=${JSON.stringify({ cookie: `tintype-session=${cookie}` })}`,
    ...(device === 'desktop' ? ['--preset=desktop'] : []),
  ]
  const report: Report = JSON.parse(await must(process.execPath, args, { env: { ...process.env, CHROME_PATH: CHROMIUM } }))
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
