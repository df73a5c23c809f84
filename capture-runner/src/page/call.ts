import type { LargePageFunctionName, PageFunctionName, PageFunctions } from './functions.ts'
import { sources as generated } from './generated/sources.ts'

const sources: Readonly<Record<PageFunctionName, string>> = generated

type Result<Name extends keyof PageFunctions> = Awaited<ReturnType<PageFunctions[Name]>>

/** The source of a page function, as an expression. */
export const sourceOf = (name: PageFunctionName): string => sources[name]

/** A call of a page function, as an expression. */
export const toCall = <Name extends PageFunctionName>(name: Name, ...values: Parameters<PageFunctions[Name]>): string =>
  callOf(sources[name], values)

const callOf = (source: string, values: readonly unknown[]): string => `${source}(${values.map((value) => JSON.stringify(value)).join()})`

/** The same for a function with libraries. */
async function toLargeCall<Name extends LargePageFunctionName>(name: Name, ...values: Parameters<PageFunctions[Name]>): Promise<string> {
  const { largeSources } = await import('./generated/large-sources.ts')
  return callOf(largeSources[name], values)
}

/** How to evaluate an expression. */
export interface EvaluateOptions {
  /** Waits for a promise's value. */
  awaitPromise?: boolean
  /** Ends the expression after these milliseconds of real time. */
  timeout?: number
}

/** Evaluates expressions in the isolated world of a page. A `Tab` is one. */
interface Evaluator {
  evaluate: <T>(expression: string, signal: AbortSignal, how?: EvaluateOptions) => Promise<T>
}

/** The tab to call a function in, and what ends the wait for its result. */
export interface PageCall {
  tab: Evaluator
  signal: AbortSignal
  /** Milliseconds of real time after which the browser ends the function. Absent: it may run as long as it likes. */
  timeout?: number
}

/** Calls a page function in the isolated world of the page. For a function that returns a promise, evaluate {@link toCall}. */
export const callInPage = <Name extends PageFunctionName>(
  { tab, signal, timeout }: PageCall,
  name: Name,
  ...values: Parameters<PageFunctions[Name]>
): Promise<Result<Name>> => tab.evaluate<Result<Name>>(toCall(name, ...values), signal, timeout === undefined ? {} : { timeout })

/** The same for a function with libraries. */
export const callLargeInPage = async <Name extends LargePageFunctionName>(
  { tab, signal, timeout }: PageCall & { timeout: number },
  name: Name,
  ...values: Parameters<PageFunctions[Name]>
): Promise<Result<Name>> => tab.evaluate<Result<Name>>(await toLargeCall(name, ...values), signal, { timeout })
