import type { PageFunctionName, PageFunctions } from './functions.ts'
import { sources as generated } from './generated/sources.ts'

const sources: Readonly<Record<PageFunctionName, string>> = generated

type Result<Name extends PageFunctionName> = Awaited<ReturnType<PageFunctions[Name]>>

/** The source of a page function, as an expression. */
export const sourceOf = (name: PageFunctionName): string => sources[name]

/** A call of a page function, as an expression. */
export const toCall = <Name extends PageFunctionName>(name: Name, ...values: Parameters<PageFunctions[Name]>): string =>
  `${sources[name]}(${values.map((value) => JSON.stringify(value)).join()})`

/** Evaluates expressions in the isolated world of a page. A `Tab` is one. */
interface Evaluator {
  evaluate: <T>(expression: string, signal: AbortSignal) => Promise<T>
}

/** The tab to call a function in, and what ends the wait for its result. */
export interface PageCall {
  tab: Evaluator
  signal: AbortSignal
}

/** Calls a page function in the isolated world of the page. For a function that returns a promise, evaluate {@link toCall}. */
export const callInPage = <Name extends PageFunctionName>(
  { tab, signal }: PageCall,
  name: Name,
  ...values: Parameters<PageFunctions[Name]>
): Promise<Result<Name>> => tab.evaluate<Result<Name>>(toCall(name, ...values), signal)
