import type { PageFunctionName, PageFunctions } from '../../src/page/functions.ts'
import * as functions from './index.ts'

type UnknownName = Exclude<keyof typeof functions, PageFunctionName>

/** Every page function is there and has its type, and there is no other. */
export const checked: PageFunctions & Record<UnknownName, never> = functions
