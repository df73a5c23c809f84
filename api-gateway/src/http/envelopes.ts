import { z } from 'zod'
import { name } from './named-schemas.ts'

// Named schemas of the bodies around records.

const success = z.literal(true)

/** `{ message, data }`: the response to a change. */
export const messageBody = <T extends z.ZodType>(id: string, data: T, description: string) =>
  name(id, z.object({ message: z.string(), data }).describe(description))

/** `{ success, data }`: the response to a read. */
export const dataBody = <T extends z.ZodType>(id: string, data: T, description: string) =>
  name(id, z.object({ success, data }).describe(description))

/** `{ success, message, data }`: the response to a request to the operator. */
export const requestedBody = <T extends z.ZodType>(id: string, data: T, description: string) =>
  name(id, z.object({ success, message: z.string(), data }).describe(description))

/** `{ success, data, pagination }`: one page of a list. */
export const listBody = <T extends z.ZodType, P extends z.ZodType>(id: string, item: T, pagination: P, description: string) =>
  name(id, z.object({ success, data: z.array(item), pagination }).describe(description))

/** Pagination of a list without a total count. */
export const cursorPagination = <T extends z.ZodType>(cursor: T) =>
  z.object({ limit: z.int().min(1), has_more: z.boolean(), next_cursor: cursor.nullable() })
