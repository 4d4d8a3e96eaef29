package kotlinx.serialization

import kotlinx.serialization.json.Json

@Target(AnnotationTarget.CLASS)
annotation class Serializable

open class SerializationException(message: String) : IllegalArgumentException(message)

inline fun <reified T> Json.encodeToString(value: T): String = write(value)
