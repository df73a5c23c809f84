import type { LargePageFunctionName, PageFunctionName, PageFunctions } from '../../src/page/functions.ts'
import * as functions from './index.ts'
import * as largeFunctions from './large.ts'

type Checked<Name extends keyof PageFunctions, Found> = Pick<PageFunctions, Name> & Record<Exclude<keyof Found, Name>, never>

/** Every page function is there and has its type, and there is no other. */
export const checked: Checked<PageFunctionName, typeof functions> = functions
export const checkedLarge: Checked<LargePageFunctionName, typeof largeFunctions> = largeFunctions
