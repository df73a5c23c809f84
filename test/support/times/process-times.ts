/** Where processor and wall time goes: by test file and by cause. Samples the processes below this one. */
import { nameGroup } from '../groups/group.ts'
import type { ProcessState } from './proc.ts'

/** In the order of the table. */
export const CAUSES = ['start and compile', 'test code', 'programs', 'API server', 'etcd', 'store', 'browser', 'chart', 'other'] as const
export type Cause = (typeof CAUSES)[number]

/** Times of a test file, or of what a stage runs besides its files. */
export interface FileTimes {
  stage: string
  file: string
  /** Seconds that the test process existed. */
  wall: number
  /** Seconds of these in which its processes used nearly no processor time. */
  waiting: number
  /** Processor seconds. */
  used: Record<Cause, number>
}

const TEST_FILE = /(?:^|\/)(test\/(?:unit|integration|e2e)\/\S+\.test\.ts)$/
/** Stages can run at the same time, so the name of a file says to which it belongs. */
const STAGE = /(?<=\btest\/)\w+/
const PROGRAMS: readonly [Cause, RegExp][] = [
  ['API server', /\/kube-apiserver$/],
  ['etcd', /\/etcd$/],
  ['store', /\/(?:minio|versitygw)$/],
  ['browser', /chrom|headless_shell/],
  ['chart', /\/helm$/],
]
/** Below this share of one processor, a file waits. */
const WAITING_SHARE = 0.1

/** The test file that a command line runs, or the name of a group of files. Commands that start further processes for files have something after them. */
export function testFileOf(command: readonly string[]): string | undefined {
  if (!TEST_FILE.test(command.at(-1) ?? '')) return undefined
  return nameGroup(command.flatMap((word) => TEST_FILE.exec(word)?.[1] ?? []))
}

/** What a process is for. */
export function causeOf(command: readonly string[]): Cause {
  const [program = '', ...args] = command
  const known = PROGRAMS.find(([, pattern]) => pattern.test(program))
  if (known) return known[0]
  if (!/(?:^|\/)node$/.test(program)) return 'other'
  if (testFileOf(command) !== undefined) return 'test code'
  return args.some((word) => /(?:api-gateway|operator|capture-runner)\//.test(word)) ? 'programs' : 'other'
}

interface Seen {
  key: string
  state: ProcessState
  cause: Cause
  owner: FileTimes
  isTest: boolean
  /** The first process of its owner. The others are below it. */
  isFirst: boolean
}

const newUsed = (): Record<Cause, number> => Object.fromEntries(CAUSES.map((cause) => [cause, 0])) as Record<Cause, number>

/** Adds up samples. */
export class ProcessTimes {
  /** What runs now besides test files belongs to this stage. */
  stage = ''
  readonly #root: number
  readonly #readCommand: (pid: number) => string[]
  readonly #startTime: (pid: number) => number | undefined
  readonly #seen = new Map<string, Seen>()
  readonly #owners = new Map<string, FileTimes>()

  /** @param startTime processor seconds that a Node.js process used until its modules were loaded */
  constructor(root: number, readCommand: (pid: number) => string[], startTime: (pid: number) => number | undefined) {
    this.#root = root
    this.#readCommand = readCommand
    this.#startTime = startTime
  }

  /** @param seconds since the last sample */
  add(states: readonly ProcessState[], seconds: number): void {
    const byPid = new Map(states.map((state) => [state.pid, state]))
    const grown = new Map<FileTimes, number>()
    const alive = new Set<string>()
    for (const state of states) {
      const key = keyOf(state)
      const before = this.#seen.get(key)
      const seen = before && before.state.name === state.name ? before : this.#identify(state, byPid, before)
      if (!seen) continue
      alive.add(key)
      const used = state.used - (before?.state.used ?? 0)
      seen.state = state
      this.#seen.set(key, seen)
      seen.owner.used[seen.cause] += used
      grown.set(seen.owner, (grown.get(seen.owner) ?? 0) + used)
      if (seen.isTest && !grown.has(seen.owner)) grown.set(seen.owner, 0)
    }
    const running = new Set([...this.#seen.values()].filter(({ key, isTest }) => isTest && alive.has(key)).map(({ owner }) => owner))
    for (const owner of running) {
      owner.wall += seconds
      if ((grown.get(owner) ?? 0) < seconds * WAITING_SHARE) owner.waiting += seconds
    }
    for (const [key, seen] of this.#seen) if (!alive.has(key)) this.#settle(key, seen)
  }

  /** All times. The processes that still run end now. */
  finish(): FileTimes[] {
    for (const [key, seen] of this.#seen) this.#settle(key, seen)
    return [...this.#owners.values()]
  }

  /** Undefined if the process does not belong to this run. */
  #identify(state: ProcessState, byPid: ReadonlyMap<number, ProcessState>, before?: Seen): Seen | undefined {
    const command = this.#readCommand(state.pid)
    const file = testFileOf(command)
    const parent = byPid.get(state.parent)
    const inherited = before?.owner ?? (parent && this.#ownerOf(parent, byPid))
    if (inherited === undefined) return undefined
    const owner = file === undefined ? inherited : this.#ownerNamed(file)
    const isTest = file !== undefined
    return { key: keyOf(state), state, cause: causeOf(command), owner, isTest, isFirst: isTest && (before?.isFirst ?? owner !== inherited) }
  }

  #ownerOf(state: ProcessState, byPid: ReadonlyMap<number, ProcessState>): FileTimes | undefined {
    if (state.pid === this.#root) return this.#ownerNamed('')
    const seen = this.#seen.get(keyOf(state)) ?? this.#identify(state, byPid)
    return seen?.owner
  }

  #ownerNamed(file: string): FileTimes {
    const stage = STAGE.exec(file)?.[0] ?? this.stage
    const key = `${stage} ${file}`
    const owner = this.#owners.get(key) ?? { stage, file, wall: 0, waiting: 0, used: newUsed() }
    this.#owners.set(key, owner)
    return owner
  }

  /** Moves the start out of the time of an ended process, and adds the children that were too short for a sample. */
  #settle(key: string, { state, cause, owner, isFirst }: Seen): void {
    this.#seen.delete(key)
    const start = Math.min(this.#startTime(state.pid) ?? 0, state.used)
    owner.used[cause] -= start
    owner.used['start and compile'] += start
    if (isFirst) owner.used.other += Math.max(0, state.usedByChildren - (sumOf(owner.used) - state.used))
  }
}

/** Processor seconds of all causes. */
export const sumOf = (used: Record<Cause, number>): number => CAUSES.reduce((sum, cause) => sum + used[cause], 0)

const keyOf = ({ pid, started }: ProcessState): string => `${pid} ${started}`
