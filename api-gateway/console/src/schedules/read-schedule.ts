import { api, type Schemas } from '../api/client.ts'
import type { Schedule } from './body.ts'

export const schedulePath = (id: string): string => `/schedules/${encodeURIComponent(id)}`

export const readSchedule = async (id: string): Promise<Schedule> => (await api<Schemas['ScheduleFound']>(schedulePath(id))).data.data
