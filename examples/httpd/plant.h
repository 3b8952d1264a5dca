/* SPDX-License-Identifier: MIT
 *
 * plant.h: stalls on demand (--plant). Runs in a worker.
 */
#ifndef HTTPD_PLANT_H
#define HTTPD_PLANT_H

#include "response.h"

#define PLANT_PATH "/stall/"

/* Delays the worker as the path requests: /stall/KIND/MS, where KIND is lock, cpu, fault or write,
 * and MS 1 to 1000. Returns the status of the response: 404 if that is not possible. */
int plant_stall(const struct request *request, struct response *response);

#endif
