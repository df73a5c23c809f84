import { spawn } from 'node:child_process'
import { mkdirSync, openSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const LOG = '.tintype/test/tools.log'
const LINE_MILLISECONDS = 30_000
/** Time in which the steps find that everything is built. */
const CHECK_MILLISECONDS = 5_000

/** Builds the tools that few tests need, in a child process, while other tests run. */
export class BackgroundTools {
  #haveEnded = false
  readonly #ended: Promise<void>

  constructor() {
    mkdirSync('.tintype/test', { recursive: true })
    const output = openSync(LOG, 'w')
    const child = spawn(process.execPath, ['test/prepare.ts', '--tools'], { stdio: ['ignore', output, output] })
    process.on('exit', () => child.kill())
    this.#ended = new Promise((resolve) => {
      child.on('close', (code) => {
        this.#haveEnded = true
        if (code !== 0) console.log(`\nNot every tool could be built. The tests that need one try again.\n${readFileSync(LOG, 'utf8')}`)
        resolve()
      })
    })
  }

  /** False while a tool is being built. */
  async areBuilt(): Promise<boolean> {
    await Promise.race([this.#ended, setTimeout(CHECK_MILLISECONDS, undefined, { ref: false })])
    return this.#haveEnded
  }

  /** Waits for the last tool, and prints every half minute what is being built. */
  async wait(): Promise<void> {
    const timer = setInterval(
      () => console.log(`waiting for tools: ${readFileSync(LOG, 'utf8').trimEnd().split('\n').at(-1)}`),
      LINE_MILLISECONDS,
    )
    await this.#ended
    clearInterval(timer)
  }
}
